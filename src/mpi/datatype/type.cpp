// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Life, names and history of datatypes (MPI-5.0, 5.1.9 to 5.1.13 and 7.8).
#include "mpi/datatype/type.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "datatype/pack.hpp"
#include "device/api/device.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/attribute.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

void release_type(Type* type) {
  if (type->predefined || --type->references > 0) return;
  if (auto* record = static_cast<TypeRecord*>(type->owner)) {
    for (Type* part : record->types) release_type(part);
    delete record;
  }
  datatype::destroy(type);
}

int give_type(const char* function, Type* made, TypeRecord&& record, MPI_Datatype* newtype) {
  if (made == nullptr) {
    return fail(nullptr, function, MPI_ERR_NO_MEM, "no memory for the datatype, or its size leaves 64 bits");
  }
  for (Type* part : record.types) hold_type(part);
  made->owner = new TypeRecord(std::move(record));
  *newtype = handle_of<MPI_Datatype>(made);
  return MPI_SUCCESS;
}

Type* twin(const Type& type) {
  Type* copy = datatype::duplicate(type);
  if (copy == nullptr) return nullptr;
  const TypeRecord& from = record_of(type);
  copy->owner = new TypeRecord{.combiner = from.combiner,
                               .integers = from.integers,
                               .addresses = from.addresses,
                               .large_counts = from.large_counts,
                               .types = from.types};
  for (Type* part : from.types) hold_type(part);
  return copy;
}

namespace {

// The arguments of MPI_Type_get_contents and of its large form, which has one array more.
struct ContentsLimits {
  MPI_Count integers, addresses, large_counts, types;
};
struct Arrays {
  int* integers;
  MPI_Aint* addresses;
  MPI_Count* large_counts;
  MPI_Datatype* types;
};

template <class T>
bool too_small(MPI_Count room, const T* array, const std::vector<T>& values) {
  auto needed = static_cast<MPI_Count>(values.size());
  return room < needed || (needed > 0 && array == nullptr);
}

int check_room(const char* function, const ContentsLimits& room, const Arrays& arrays, const TypeRecord& record) {
  if (too_small(room.integers, arrays.integers, record.integers) ||
      too_small(room.addresses, arrays.addresses, record.addresses) ||
      too_small(room.large_counts, arrays.large_counts, record.large_counts) ||
      room.types < static_cast<MPI_Count>(record.types.size()) || (!record.types.empty() && arrays.types == nullptr)) {
    return fail(nullptr, function, MPI_ERR_ARG,
                "an array is a null pointer or too small: the datatype has %zu integers, %zu addresses, %zu large "
                "counts, %zu datatypes",
                record.integers.size(), record.addresses.size(), record.large_counts.size(), record.types.size());
  }
  return MPI_SUCCESS;
}

int get_contents(const char* function, MPI_Datatype datatype, const ContentsLimits& room, const Arrays& arrays) {
  Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  const TypeRecord& record = record_of(*type);
  if (record.combiner == MPI_COMBINER_NAMED) {
    return fail(nullptr, function, MPI_ERR_TYPE, "%s is predefined: it was not made of anything", type->name);
  }
  if (int error = check_room(function, room, arrays, record)) return error;
  std::copy(record.integers.begin(), record.integers.end(), arrays.integers);
  std::copy(record.addresses.begin(), record.addresses.end(), arrays.addresses);
  std::copy(record.large_counts.begin(), record.large_counts.end(), arrays.large_counts);
  for (size_t i = 0; i < record.types.size(); ++i) {
    Type* part = record.types[i]->predefined ? record.types[i] : twin(*record.types[i]);
    if (part == nullptr) return no_memory(nullptr, function, "a datatype");
    arrays.types[i] = type_handle(part);
  }
  return MPI_SUCCESS;
}

int narrow_only(const char* function) {
  return fail(nullptr, function, MPI_ERR_TYPE, "the datatype was made with large counts: use %s_c", function);
}

bool has_large_counts(const Type* type) {
  return !record_of(*type).large_counts.empty();
}

}  // namespace

int type_commit(MPI_Datatype* datatype) {
  static const char* function = "MPI_Type_commit";
  if (no_address(datatype)) return null_argument(nullptr, function, "datatype");
  Type* type = type_of(*datatype);
  if (type == nullptr) return bad_type(nullptr, function, *datatype);
  if (!type->committed) type->commit(!device::on());  // threads may all commit the same predefined type
  return MPI_SUCCESS;
}

// Operations under way keep the type, but its handle is dead at once. An unnamed pair of MPI_Type_get_value_index is
// kept for all who ask for it; programs free it nevertheless, as the standard leaves open whether they own it.
int type_free(MPI_Datatype* datatype) {
  static const char* function = "MPI_Type_free";
  if (no_address(datatype)) return null_argument(nullptr, function, "datatype");
  Type* type = type_of(*datatype);
  if (type == nullptr) return bad_type(nullptr, function, *datatype);
  if (type->predefined) {
    const char* name = type->name[0] != '\0' ? type->name : "the unnamed datatype";
    return fail(nullptr, function, MPI_ERR_TYPE, "%s is predefined and cannot be freed", name);
  }
  int error = delete_attributes(*type);
  if (error != MPI_SUCCESS) {
    return fail(nullptr, function, error, "a delete callback of an attribute returned an error");
  }
  type->kind = base::Kind::free;
  release_type(type);
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  static const char* function = "MPI_Type_dup";
  Type* old = type_of(oldtype);
  if (old == nullptr) return bad_type(nullptr, function, oldtype);
  if (no_address(newtype)) return null_argument(nullptr, function, "newtype");
  MPI_Datatype made = MPI_DATATYPE_NULL;
  TypeRecord record;
  record.combiner = MPI_COMBINER_DUP;
  record.types = {old};
  if (int error = give_type(function, datatype::duplicate(*old), std::move(record), &made)) return error;
  Type* type = type_of(made);
  int error = copy_attributes(*old, *type);
  if (error != MPI_SUCCESS) {
    (void)delete_attributes(*type);
    release_type(type);
    *newtype = MPI_DATATYPE_NULL;
    return fail(nullptr, function, error, "a copy callback of an attribute returned an error");
  }
  *newtype = made;
  return MPI_SUCCESS;
}

int type_set_name(MPI_Datatype datatype, const char* type_name) {
  Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, "MPI_Type_set_name", datatype);
  if (no_address(type_name)) return null_argument(nullptr, "MPI_Type_set_name", "type_name");
  TypeRecord& record = record_of(*type);
  std::lock_guard lock(details);
  record.name.assign(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1));
  record.has_name = true;
  return MPI_SUCCESS;
}

// MPI_DATATYPE_NULL has a name too (MPI-5.0, 7.8).
int type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  static const char* function = "MPI_Type_get_name";
  const Type* type = type_of(datatype);
  if (type == nullptr && (datatype != MPI_DATATYPE_NULL || !is_running())) return bad_type(nullptr, function, datatype);
  if (no_address(type_name)) return null_argument(nullptr, function, "type_name");
  if (no_address(resultlen)) return null_argument(nullptr, function, "resultlen");
  std::lock_guard lock(details);
  const char* name = type == nullptr ? "MPI_DATATYPE_NULL" : type->name;
  if (type != nullptr && record_of(*type).has_name) name = record_of(*type).name.c_str();
  strcpy(type_name, name);
  *resultlen = static_cast<int>(strlen(name));
  return MPI_SUCCESS;
}

int type_get_envelope_c(MPI_Datatype datatype, MPI_Count* num_integers, MPI_Count* num_addresses,
                        MPI_Count* num_large_counts, MPI_Count* num_datatypes, int* combiner) {
  static const char* function = "MPI_Type_get_envelope_c";
  Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  if (no_address(num_integers)) return null_argument(nullptr, function, "num_integers");
  if (no_address(num_addresses)) return null_argument(nullptr, function, "num_addresses");
  if (no_address(num_large_counts)) return null_argument(nullptr, function, "num_large_counts");
  if (no_address(num_datatypes)) return null_argument(nullptr, function, "num_datatypes");
  if (no_address(combiner)) return null_argument(nullptr, function, "combiner");
  const TypeRecord& record = record_of(*type);
  *num_integers = static_cast<MPI_Count>(record.integers.size());
  *num_addresses = static_cast<MPI_Count>(record.addresses.size());
  *num_large_counts = static_cast<MPI_Count>(record.large_counts.size());
  *num_datatypes = static_cast<MPI_Count>(record.types.size());
  *combiner = record.combiner;
  return MPI_SUCCESS;
}

int type_get_envelope(MPI_Datatype datatype, int* num_integers, int* num_addresses, int* num_datatypes, int* combiner) {
  static const char* function = "MPI_Type_get_envelope";
  Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  if (no_address(num_integers)) return null_argument(nullptr, function, "num_integers");
  if (no_address(num_addresses)) return null_argument(nullptr, function, "num_addresses");
  if (no_address(num_datatypes)) return null_argument(nullptr, function, "num_datatypes");
  if (no_address(combiner)) return null_argument(nullptr, function, "combiner");
  if (has_large_counts(type)) return narrow_only(function);
  const TypeRecord& record = record_of(*type);
  *num_integers = static_cast<int>(record.integers.size());
  *num_addresses = static_cast<int>(record.addresses.size());
  *num_datatypes = static_cast<int>(record.types.size());
  *combiner = record.combiner;
  return MPI_SUCCESS;
}

int type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                      int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]) {
  static const char* function = "MPI_Type_get_contents";
  const Type* type = type_of(datatype);
  if (type != nullptr && has_large_counts(type)) return narrow_only(function);
  return get_contents(function, datatype, {max_integers, max_addresses, 0, max_datatypes},
                      {array_of_integers, array_of_addresses, nullptr, array_of_datatypes});
}

int type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                        MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
                        MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                        MPI_Datatype array_of_datatypes[]) {
  return get_contents("MPI_Type_get_contents_c", datatype,
                      {max_integers, max_addresses, max_large_counts, max_datatypes},
                      {array_of_integers, array_of_addresses, array_of_large_counts, array_of_datatypes});
}

}  // namespace weft::mpi
