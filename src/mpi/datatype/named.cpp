// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Predefined datatypes found by what they hold: by class and size, by value and index, and by the precision and range
// that a Fortran program asks a kind for (MPI-5.0, 6.9.4 and 19.1.9).

#include <map>
#include <mutex>
#include <tuple>

#include "datatype/pack.hpp"
#include "datatype/predefined.hpp"
#include "datatype/reduce.hpp"
#include "device/api/device.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {
namespace {

// ---- MPI_Type_match_size

struct SizedType {
  int typeclass;
  int size;
  MPI_Datatype type;
};

const SizedType sized[] = {
    {MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},   {MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},
    {MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},   {MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},
    {MPIX_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16}, {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
    {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},    {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
    {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},    {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
    {MPI_TYPECLASS_REAL, 2, MPI_REAL2},          {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
    {MPI_TYPECLASS_REAL, 8, MPI_REAL8},          {MPI_TYPECLASS_REAL, 16, MPI_REAL16},
    {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},    {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
    {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},  {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
};

const char* class_name(int typeclass) {
  switch (typeclass) {
    case MPIX_TYPECLASS_LOGICAL:
      return "logical";
    case MPI_TYPECLASS_INTEGER:
      return "integer";
    case MPI_TYPECLASS_REAL:
      return "real";
    case MPI_TYPECLASS_COMPLEX:
      return "complex";
    default:
      return nullptr;
  }
}

// ---- MPI_Type_get_value_index

struct PairType {
  MPI_Datatype value, index, pair;
};

const PairType pairs[] = {
    {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},      {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
    {MPI_LONG, MPI_INT, MPI_LONG_INT},        {MPI_INT, MPI_INT, MPI_2INT},
    {MPI_SHORT, MPI_INT, MPI_SHORT_INT},      {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
    {MPI_REAL, MPI_REAL, MPI_2REAL},          {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
    {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
};

// ---- MPI_Type_create_f90_real, _complex and _integer

// The kinds that gfortran has on x86-64: up to which decimal digits and exponent.
struct RealKind {
  int precision;
  int range;
  MPI_Datatype real, complex;
};
const RealKind real_kinds[] = {
    {6, 37, MPI_REAL4, MPI_COMPLEX8},
    {15, 307, MPI_REAL8, MPI_COMPLEX16},
    {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
    {33, 4931, MPI_REAL16, MPI_COMPLEX32},
};

struct IntegerKind {
  int range;
  MPI_Datatype type;
};
const IntegerKind integer_kinds[] = {
    {2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}, {38, MPI_INTEGER16},
};

// Unnamed predefined types: the same arguments give the same handle (MPI-5.0, 6.9.4 and 19.1.9), so they are made once
// and kept until the process ends.
constinit base::Lock kept_lock;
using Arguments = std::tuple<int, int, int>;  // combiner, and what it was asked for
struct NamedType {
  Type* type = nullptr;
  // Its objects, where leak checkers find them: they do not look into the memory of objects.
  const void* record = nullptr;
  const void* signature = nullptr;
  const void* blocks = nullptr;
};
std::map<Arguments, NamedType>& kept() {
  static auto* types = new std::map<Arguments, NamedType>;
  return *types;
}

template <class Make>
int give_kept(const char* function, const Arguments& arguments, MPI_Datatype* newtype, Make&& make) {
  Type* made;
  {
    std::lock_guard lock(kept_lock);
    NamedType& place = kept()[arguments];
    made = place.type != nullptr ? place.type : make();
    if (made != nullptr) place = {made, made->owner, made->signature, made->nest.blocks};
  }
  if (made == nullptr) return no_memory(nullptr, function, "a datatype");
  *newtype = handle_of<MPI_Datatype>(made);
  return MPI_SUCCESS;
}

Type* make_predefined(Type* made, TypeRecord&& record) {
  if (made == nullptr) return nullptr;
  made->predefined = true;
  made->commit(!device::on());
  made->owner = new TypeRecord(std::move(record));
  return made;
}

int give_kind(const char* function, MPI_Datatype like, TypeRecord&& record, MPI_Datatype* newtype) {
  const Arguments arguments = {record.combiner, record.integers.front(), record.integers.back()};
  return give_kept(function, arguments, newtype,
                   [&] { return make_predefined(datatype::duplicate(*type_of(like)), std::move(record)); });
}

// An unnamed pair, laid out as its C struct. Its index is an integer: two floating values are Fortran's named pairs.
bool may_pair(const Type& value, const Type& index) {
  using datatype::Basic;
  if (index.basic == Basic::float32 || index.basic == Basic::float64) return false;
  return value.predefined && index.predefined &&
         datatype::pair_kernel(datatype::Reduction::minloc, value.basic, index.basic) != nullptr;
}

Type* make_pair(Type& value, Type& index) {
  const datatype::Part parts[] = {{0, 1, &value},
                                  {datatype::pair_size(value.basic, index.basic).second_offset, 1, &index}};
  Type* made = datatype::structure(parts, 2);
  if (made == nullptr) return nullptr;
  made->pair_value = value.basic;
  made->pair_index = index.basic;
  return make_predefined(made, {.combiner = MPI_COMBINER_VALUE_INDEX, .types = {&value, &index}});
}

int create_real(const char* function, int combiner, int p, int r, MPI_Datatype* newtype) {
  if (!is_running()) return not_running(function);
  if (no_address(newtype)) return null_argument(nullptr, function, "newtype");
  if (p == MPI_UNDEFINED && r == MPI_UNDEFINED) {
    return fail(nullptr, function, MPI_ERR_ARG, "p and r are MPI_UNDEFINED: one of them must be given");
  }
  for (int number : {p, r}) {
    if (number >= 0 || number == MPI_UNDEFINED) continue;
    return fail(nullptr, function, MPI_ERR_ARG, "p is %d and r is %d: a number must not be negative", p, r);
  }
  for (const RealKind& kind : real_kinds) {
    if ((p != MPI_UNDEFINED && p > kind.precision) || (r != MPI_UNDEFINED && r > kind.range)) continue;
    const MPI_Datatype like = combiner == MPI_COMBINER_F90_REAL ? kind.real : kind.complex;
    return give_kind(function, like, {.combiner = combiner, .integers = {p, r}}, newtype);
  }
  return fail(nullptr, function, MPI_ERR_ARG, "no kind has precision %d and range %d: at most 33 digits and 4931", p,
              r);
}

}  // namespace

// A type to compare with is found for every size of a Fortran kind; it is predefined and must not be freed.
int type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  static const char* function = "MPI_Type_match_size";
  if (!is_running()) return not_running(function);
  if (no_address(datatype)) return null_argument(nullptr, function, "datatype");
  const char* name = class_name(typeclass);
  if (name == nullptr) {
    return fail(nullptr, function, MPI_ERR_ARG, "typeclass is %d: it must be one of MPI_TYPECLASS_...", typeclass);
  }
  for (const SizedType& row : sized) {
    if (row.typeclass != typeclass || row.size != size) continue;
    *datatype = row.type;
    return MPI_SUCCESS;
  }
  return fail(nullptr, function, MPI_ERR_ARG, "there is no %s datatype of %d bytes", name, size);
}

// The named pair where there is one, an unnamed one of any other ordered value and integer, and MPI_DATATYPE_NULL for
// what cannot be compared or is no index.
int type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type) {
  static const char* function = "MPI_Type_get_value_index";
  Type* value = type_of(value_type);
  Type* index = type_of(index_type);
  if (value == nullptr) return bad_type(nullptr, function, value_type);
  if (index == nullptr) return bad_type(nullptr, function, index_type);
  if (no_address(pair_type)) return null_argument(nullptr, function, "pair_type");
  for (const PairType& row : pairs) {
    if (row.value != value_type || row.index != index_type) continue;
    *pair_type = row.pair;
    return MPI_SUCCESS;
  }
  if (!may_pair(*value, *index)) {
    *pair_type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
  }
  const Arguments arguments = {MPI_COMBINER_VALUE_INDEX, type_toint(value_type), type_toint(index_type)};
  return give_kept(function, arguments, pair_type, [&] { return make_pair(*value, *index); });
}

int type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  return create_real("MPI_Type_create_f90_real", MPI_COMBINER_F90_REAL, p, r, newtype);
}

int type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  return create_real("MPI_Type_create_f90_complex", MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}

int type_create_f90_integer(int r, MPI_Datatype* newtype) {
  static const char* function = "MPI_Type_create_f90_integer";
  if (!is_running()) return not_running(function);
  if (no_address(newtype)) return null_argument(nullptr, function, "newtype");
  if (r < 0) return negative(nullptr, function, MPI_ERR_ARG, "r", r);
  for (const IntegerKind& kind : integer_kinds) {
    if (r > kind.range) continue;
    return give_kind(function, kind.type, {.combiner = MPI_COMBINER_F90_INTEGER, .integers = {r}}, newtype);
  }
  return fail(nullptr, function, MPI_ERR_ARG, "no kind has range %d: at most 38", r);
}

}  // namespace weft::mpi
