// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of parts of arrays (MPI-5.0, 5.1.3 and 5.1.4): a box of one array, and the share of a process in an array
// that is dealt out over a grid of processes.

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "datatype/pack.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {
namespace {

struct Destroy {
  void operator()(Type* type) const { datatype::destroy(type); }
};
using Layout = std::unique_ptr<Type, Destroy>;  // on the way to a type that the program gets

int check_common(const char* function, int ndims, int order, MPI_Datatype oldtype, const MPI_Datatype* newtype) {
  if (ndims < 1) return fail(nullptr, function, MPI_ERR_DIMS, "ndims is %d: it must be positive", ndims);
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    return fail(nullptr, function, MPI_ERR_ARG, "order is %d: it must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
  }
  if (type_of(oldtype) == nullptr) return bad_type(nullptr, function, oldtype);
  if (no_address(newtype)) return null_argument(nullptr, function, "newtype");
  return MPI_SUCCESS;
}

int bad_dimension(const char* function, int dimension, const char* what, MPI_Count value, const char* must) {
  return fail(nullptr, function, MPI_ERR_ARG, "dimension %d: %s is %lld: it must be %s", dimension, what,
              static_cast<long long>(value), must);
}

// Numbers that MPI_Type_get_contents gives back as integers, or as large counts.
template <class Size>
void append(TypeRecord& record, const Size* numbers, int count) {
  if constexpr (std::is_same_v<Size, int>) {
    record.integers.insert(record.integers.end(), numbers, numbers + count);
  } else {
    record.large_counts.insert(record.large_counts.end(), numbers, numbers + count);
  }
}

// ---- MPI_Type_create_subarray

template <class Size>
struct Box {
  const char* function;
  int ndims;
  const Size* sizes;
  const Size* subsizes;
  const Size* starts;
  int order;
};

template <class Size>
int check(const Box<Size>& box) {
  const char* function = box.function;
  if (no_address(box.sizes)) return null_argument(nullptr, function, "array_of_sizes");
  if (no_address(box.subsizes)) return null_argument(nullptr, function, "array_of_subsizes");
  if (no_address(box.starts)) return null_argument(nullptr, function, "array_of_starts");
  for (int i = 0; i < box.ndims; ++i) {
    const MPI_Count size = box.sizes[i], part = box.subsizes[i], start = box.starts[i];
    if (size < 1) return bad_dimension(function, i, "the size", size, "positive");
    if (part < 1 || part > size) return bad_dimension(function, i, "the subsize", part, "from 1 to the size");
    if (start < 0 || start > size - part) {
      return bad_dimension(function, i, "the start", start, "from 0 to the size less the subsize");
    }
  }
  return MPI_SUCCESS;
}

template <class Size>
int make_subarray(const Box<Size>& box, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  if (int error = check_common(box.function, box.ndims, box.order, oldtype, newtype)) return error;
  if (int error = check(box)) return error;
  const int n = box.ndims;
  Type* old = type_of(oldtype);
  TypeRecord record;
  record.combiner = MPI_COMBINER_SUBARRAY;
  record.types = {old};
  record.integers = {n};
  append(record, box.sizes, n);
  append(record, box.subsizes, n);
  append(record, box.starts, n);
  record.integers.push_back(box.order);
  const std::vector<int64_t> sizes(box.sizes, box.sizes + n);
  const std::vector<int64_t> subsizes(box.subsizes, box.subsizes + n);
  const std::vector<int64_t> starts(box.starts, box.starts + n);
  const bool fortran = box.order == MPI_ORDER_FORTRAN;
  Type* made = datatype::subarray(n, sizes.data(), subsizes.data(), starts.data(), fortran, *old);
  return give_type(box.function, made, std::move(record), newtype);
}

// ---- MPI_Type_create_darray

// How one dimension is dealt out: blocks of `block` indices in turn to `processes` processes.
struct Dealt {
  int64_t size;
  int64_t block;
  int64_t processes;
  int64_t process;  // this one
};

template <class Size>
struct ProcessGrid {
  const char* function;
  int size;
  int rank;
  int ndims;
  const Size* gsizes;
  const int* distribs;
  const int* dargs;
  const int* psizes;
  int order;
};

int64_t divide_up(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

template <class Size>
int check_dimension(const ProcessGrid<Size>& grid, int i) {
  const char* function = grid.function;
  const MPI_Count size = grid.gsizes[i];
  const int processes = grid.psizes[i], argument = grid.dargs[i];
  if (size < 1) return bad_dimension(function, i, "the size of the global array", size, "positive");
  if (processes < 1) return bad_dimension(function, i, "the size of the process grid", processes, "positive");
  switch (grid.distribs[i]) {
    case MPI_DISTRIBUTE_NONE:
      if (processes == 1) return MPI_SUCCESS;
      return bad_dimension(function, i, "the size of the process grid", processes, "1 with MPI_DISTRIBUTE_NONE");
    case MPI_DISTRIBUTE_BLOCK:
    case MPI_DISTRIBUTE_CYCLIC:
      break;
    default:
      return bad_dimension(function, i, "the distribution", grid.distribs[i],
                           "MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK or MPI_DISTRIBUTE_CYCLIC");
  }
  if (argument == MPI_DISTRIBUTE_DFLT_DARG) return MPI_SUCCESS;
  if (argument < 1) {
    return bad_dimension(function, i, "the distribution argument", argument, "positive or MPI_DISTRIBUTE_DFLT_DARG");
  }
  if (grid.distribs[i] == MPI_DISTRIBUTE_BLOCK && argument < divide_up(size, processes)) {
    return bad_dimension(function, i, "the block", argument, "large enough for the processes to hold the array");
  }
  return MPI_SUCCESS;
}

template <class Size>
int check(const ProcessGrid<Size>& grid) {
  const char* function = grid.function;
  if (grid.size < 1) return fail(nullptr, function, MPI_ERR_ARG, "size is %d: it must be positive", grid.size);
  if (grid.rank < 0 || grid.rank >= grid.size) {
    return no_rank(nullptr, function, MPI_ERR_RANK, "rank", grid.rank, "the process grid", grid.size);
  }
  if (no_address(grid.gsizes)) return null_argument(nullptr, function, "array_of_gsizes");
  if (no_address(grid.distribs)) return null_argument(nullptr, function, "array_of_distribs");
  if (no_address(grid.dargs)) return null_argument(nullptr, function, "array_of_dargs");
  if (no_address(grid.psizes)) return null_argument(nullptr, function, "array_of_psizes");
  int64_t processes = 1;
  for (int i = 0; i < grid.ndims; ++i) {
    if (int error = check_dimension(grid, i)) return error;
    if (processes <= grid.size) processes *= grid.psizes[i];
  }
  if (processes != grid.size) {
    return fail(nullptr, function, MPI_ERR_ARG, "the product of array_of_psizes is not size, %d", grid.size);
  }
  return MPI_SUCCESS;
}

template <class Size>
int64_t block_of(const ProcessGrid<Size>& grid, int i) {
  const bool chosen = grid.dargs[i] != MPI_DISTRIBUTE_DFLT_DARG;
  switch (grid.distribs[i]) {
    case MPI_DISTRIBUTE_BLOCK:
      return chosen ? grid.dargs[i] : divide_up(grid.gsizes[i], grid.psizes[i]);
    case MPI_DISTRIBUTE_CYCLIC:
      return chosen ? grid.dargs[i] : 1;
    default:
      return grid.gsizes[i];
  }
}

// The grid numbers processes in row-major order, for either order of the array.
template <class Size>
std::vector<Dealt> deal(const ProcessGrid<Size>& grid) {
  std::vector<Dealt> dealt(static_cast<size_t>(grid.ndims));
  int below = grid.rank;
  for (int i = grid.ndims - 1; i >= 0; --i) {
    dealt[static_cast<size_t>(i)] = {grid.gsizes[i], block_of(grid, i), grid.psizes[i], below % grid.psizes[i]};
    below /= grid.psizes[i];
  }
  return dealt;
}

// One dimension of elements that are laid out like `inner`: whole blocks at equal distances and at most one that the
// end of the array cuts. Its extent is the whole dimension's.
Layout share_of(const Dealt& dealt, const Type& inner) {
  int64_t round = 0;
  if (__builtin_mul_overflow(dealt.processes, dealt.block, &round)) return nullptr;
  const int64_t first = dealt.process * dealt.block;  // less than a round
  const int64_t room = dealt.size - first;
  const int64_t whole = room < dealt.block ? 0 : (room - dealt.block) / round + 1;
  const int64_t cut = std::min(dealt.block, std::max<int64_t>(0, room - whole * round));
  int64_t stride = 0, start = 0, end = 0, extent = 0;
  if (__builtin_mul_overflow(dealt.size, inner.extent, &extent)) return nullptr;
  if (__builtin_mul_overflow(whole > 1 ? round : 0, inner.extent, &stride)) return nullptr;
  if (room > 0 && __builtin_mul_overflow(first, inner.extent, &start)) return nullptr;
  if (cut > 0 && __builtin_mul_overflow(first + whole * round, inner.extent, &end)) return nullptr;
  const Layout blocks(datatype::vector(whole, dealt.block, stride, inner));
  const Layout rest(datatype::contiguous(cut, inner));
  if (!blocks || !rest) return nullptr;
  const std::array<datatype::Part, 2> parts = {{{start, whole > 0, blocks.get()}, {end, cut > 0, rest.get()}}};
  const Layout both(datatype::structure(parts.data(), 2));
  return both ? Layout(datatype::resized(*both, 0, extent)) : nullptr;
}

template <class Size>
Type* darray(const ProcessGrid<Size>& grid, const Type& old) {
  const std::vector<Dealt> dealt = deal(grid);
  Layout layout;
  for (size_t i = 0; i < dealt.size(); ++i) {  // from the dimension whose elements lie next to each other
    const Dealt& dimension = grid.order == MPI_ORDER_FORTRAN ? dealt[i] : dealt[dealt.size() - 1 - i];
    layout = share_of(dimension, layout ? *layout : old);
    if (!layout) return nullptr;
  }
  return layout.release();
}

template <class Size>
int make_darray(const ProcessGrid<Size>& grid, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  if (int error = check_common(grid.function, grid.ndims, grid.order, oldtype, newtype)) return error;
  if (int error = check(grid)) return error;
  const int n = grid.ndims;
  Type* old = type_of(oldtype);
  TypeRecord record;
  record.combiner = MPI_COMBINER_DARRAY;
  record.types = {old};
  record.integers = {grid.size, grid.rank, n};
  append(record, grid.gsizes, n);
  append(record, grid.distribs, n);
  append(record, grid.dargs, n);
  append(record, grid.psizes, n);
  record.integers.push_back(grid.order);
  return give_type(grid.function, darray(grid, *old), std::move(record), newtype);
}

// The arguments of all dimensions, from `distributions` on in the record's integers.
template <class Size>
Type* darray_of(const TypeRecord& record, const Size* gsizes, const int* distributions, const Type& element) {
  const int n = record.integers[2];
  const ProcessGrid<Size> grid{
      "MPI_Type_create_darray", record.integers[0],    record.integers[1],    n, gsizes, distributions,
      distributions + n,        distributions + 2 * n, record.integers.back()};
  return darray(grid, element);
}

}  // namespace

Type* darray_of(const TypeRecord& record, const Type& element) {
  const int* rest = record.integers.data() + 3;
  if (!record.large_counts.empty()) return darray_of(record, record.large_counts.data(), rest, element);
  return darray_of(record, rest, rest + record.integers[2], element);
}

int type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                         const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_subarray<int>(
      {"MPI_Type_create_subarray", ndims, array_of_sizes, array_of_subsizes, array_of_starts, order}, oldtype, newtype);
}

int type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[],
                           const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_subarray<MPI_Count>(
      {"MPI_Type_create_subarray_c", ndims, array_of_sizes, array_of_subsizes, array_of_starts, order}, oldtype,
      newtype);
}

int type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[], const int array_of_distribs[],
                       const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
  return make_darray<int>({"MPI_Type_create_darray", size, rank, ndims, array_of_gsizes, array_of_distribs,
                           array_of_dargs, array_of_psizes, order},
                          oldtype, newtype);
}

int type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                         const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
                         int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_darray<MPI_Count>({"MPI_Type_create_darray_c", size, rank, ndims, array_of_gsizes, array_of_distribs,
                                 array_of_dargs, array_of_psizes, order},
                                oldtype, newtype);
}

}  // namespace weft::mpi
