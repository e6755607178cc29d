// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Datatypes of blocks at any places: the indexed constructors and MPI_Type_create_struct (MPI-5.0, 5.1.2). All are one
// layout, parts at byte offsets; they differ in the numbers the program gives and in what is remembered of them.

#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "datatype/pack.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {
namespace {

using datatype::Part;

// The numbers of a constructor: int lengths in the narrow form, MPI_Count in the large one.
template <class Length, class Place>
struct IndexedArguments {
  const char* function;
  int combiner;
  MPI_Count count;
  const Length* lengths;  // elements of each block
  bool one_length;        // of all blocks: `lengths` is the argument blocklength, not an array
  const Place* places;    // displacements

  MPI_Count length(MPI_Count i) const { return lengths[one_length ? 0 : i]; }
};

// Whether there is memory for the parts and for the record: vectors have no way to say that there is none.
bool has_room(MPI_Count blocks) {
  constexpr size_t of_each = sizeof(Part) + 2 * sizeof(MPI_Count) + sizeof(Type*);
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(blocks), of_each, &bytes)) return false;
  return std::unique_ptr<char[]>(new (std::nothrow) char[bytes]) != nullptr;
}

template <class Length, class Place>
int check(const IndexedArguments<Length, Place>& blocks, const MPI_Datatype* newtype) {
  const char* function = blocks.function;
  if (blocks.count < 0) return negative(nullptr, function, MPI_ERR_COUNT, "count", blocks.count);
  if (no_address(newtype)) return null_argument(nullptr, function, "newtype");
  if (blocks.count > 0 && no_address(blocks.lengths)) return null_argument(nullptr, function, "array_of_blocklengths");
  if (blocks.count > 0 && no_address(blocks.places)) return null_argument(nullptr, function, "array_of_displacements");
  if (!has_room(blocks.count)) return no_memory(nullptr, function, "so many blocks");
  for (MPI_Count i = 0; i < (blocks.one_length ? 1 : blocks.count); ++i) {
    if (blocks.length(i) >= 0) continue;
    return fail(nullptr, function, MPI_ERR_ARG, "the blocklength of block %lld is %lld: it must not be negative",
                static_cast<long long>(i), static_cast<long long>(blocks.length(i)));
  }
  return MPI_SUCCESS;
}

template <class To, class From>
void append(std::vector<To>& numbers, const From* from, MPI_Count count) {
  numbers.insert(numbers.end(), from, from + count);
}

// Count, lengths, displacements, in the arrays that MPI_Type_get_contents gives them back in.
template <class Length, class Place>
TypeRecord remember(const IndexedArguments<Length, Place>& blocks) {
  TypeRecord record;
  record.combiner = blocks.combiner;
  const MPI_Count lengths = blocks.one_length ? 1 : blocks.count;
  if constexpr (std::is_same_v<Length, int>) {
    record.integers.push_back(static_cast<int>(blocks.count));
    append(record.integers, blocks.lengths, lengths);
    if constexpr (std::is_same_v<Place, int>) {
      append(record.integers, blocks.places, blocks.count);
    } else {
      append(record.addresses, blocks.places, blocks.count);
    }
  } else {
    record.large_counts.push_back(blocks.count);
    append(record.large_counts, blocks.lengths, lengths);
    append(record.large_counts, blocks.places, blocks.count);
  }
  return record;
}

// Blocks of one type. Displacements are in elements or in bytes.
enum class DisplacementUnit { elements, bytes };

template <class Length, class Place>
int make_indexed(const IndexedArguments<Length, Place>& blocks, DisplacementUnit unit, MPI_Datatype oldtype,
                 MPI_Datatype* newtype) {
  Type* old = type_of(oldtype);
  if (old == nullptr) return bad_type(nullptr, blocks.function, oldtype);
  if (int error = check(blocks, newtype)) return error;
  std::vector<Part> parts;
  parts.reserve(static_cast<size_t>(blocks.count));
  bool fits = true;
  for (MPI_Count i = 0; i < blocks.count; ++i) {
    int64_t offset = blocks.places[i];
    if (unit == DisplacementUnit::elements) fits = fits && !__builtin_mul_overflow(offset, old->extent, &offset);
    parts.push_back({offset, blocks.length(i), old});
  }
  TypeRecord record = remember(blocks);
  record.types = {old};
  Type* made = fits ? datatype::structure(parts.data(), blocks.count) : nullptr;
  return give_type(blocks.function, made, std::move(record), newtype);
}

template <class Length, class Place>
int make_struct(const IndexedArguments<Length, Place>& blocks, const MPI_Datatype types[], MPI_Datatype* newtype) {
  if (int error = check(blocks, newtype)) return error;
  if (blocks.count > 0 && no_address(types)) return null_argument(nullptr, blocks.function, "array_of_types");
  TypeRecord record = remember(blocks);
  std::vector<Part> parts;
  parts.reserve(static_cast<size_t>(blocks.count));
  record.types.reserve(static_cast<size_t>(blocks.count));
  for (MPI_Count i = 0; i < blocks.count; ++i) {
    Type* type = type_of(types[i]);
    if (type == nullptr) return bad_type(nullptr, blocks.function, types[i]);
    parts.push_back({blocks.places[i], blocks.length(i), type});
    record.types.push_back(type);
  }
  return give_type(blocks.function, datatype::structure(parts.data(), blocks.count), std::move(record), newtype);
}

}  // namespace

int type_indexed(int count, const int array_of_blocklengths[], const int array_of_displacements[], MPI_Datatype oldtype,
                 MPI_Datatype* newtype) {
  return make_indexed<int, int>(
      {"MPI_Type_indexed", MPI_COMBINER_INDEXED, count, array_of_blocklengths, false, array_of_displacements},
      DisplacementUnit::elements, oldtype, newtype);
}

int type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
                   MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_indexed<MPI_Count, MPI_Count>(
      {"MPI_Type_indexed_c", MPI_COMBINER_INDEXED, count, array_of_blocklengths, false, array_of_displacements},
      DisplacementUnit::elements, oldtype, newtype);
}

int type_create_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                         MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_indexed<int, MPI_Aint>(
      {"MPI_Type_create_hindexed", MPI_COMBINER_HINDEXED, count, array_of_blocklengths, false, array_of_displacements},
      DisplacementUnit::bytes, oldtype, newtype);
}

int type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                           const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_indexed<MPI_Count, MPI_Count>({"MPI_Type_create_hindexed_c", MPI_COMBINER_HINDEXED, count,
                                             array_of_blocklengths, false, array_of_displacements},
                                            DisplacementUnit::bytes, oldtype, newtype);
}

int type_create_indexed_block(int count, int blocklength, const int array_of_displacements[], MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
  return make_indexed<int, int>(
      {"MPI_Type_create_indexed_block", MPI_COMBINER_INDEXED_BLOCK, count, &blocklength, true, array_of_displacements},
      DisplacementUnit::elements, oldtype, newtype);
}

int type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[],
                                MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_indexed<MPI_Count, MPI_Count>({"MPI_Type_create_indexed_block_c", MPI_COMBINER_INDEXED_BLOCK, count,
                                             &blocklength, true, array_of_displacements},
                                            DisplacementUnit::elements, oldtype, newtype);
}

int type_create_hindexed_block(int count, int blocklength, const MPI_Aint array_of_displacements[],
                               MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_indexed<int, MPI_Aint>({"MPI_Type_create_hindexed_block", MPI_COMBINER_HINDEXED_BLOCK, count,
                                      &blocklength, true, array_of_displacements},
                                     DisplacementUnit::bytes, oldtype, newtype);
}

int type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[],
                                 MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_indexed<MPI_Count, MPI_Count>({"MPI_Type_create_hindexed_block_c", MPI_COMBINER_HINDEXED_BLOCK, count,
                                             &blocklength, true, array_of_displacements},
                                            DisplacementUnit::bytes, oldtype, newtype);
}

int type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                       const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  return make_struct<int, MPI_Aint>(
      {"MPI_Type_create_struct", MPI_COMBINER_STRUCT, count, array_of_blocklengths, false, array_of_displacements},
      array_of_types, newtype);
}

int type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                         const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[],
                         MPI_Datatype* newtype) {
  return make_struct<MPI_Count, MPI_Count>(
      {"MPI_Type_create_struct_c", MPI_COMBINER_STRUCT, count, array_of_blocklengths, false, array_of_displacements},
      array_of_types, newtype);
}

}  // namespace weft::mpi
