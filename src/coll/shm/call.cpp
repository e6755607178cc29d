// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/call.hpp"

#include "core/object/request.hpp"

namespace weft::coll::call {

namespace {

// Neither a word of a call nor a number of bytes has it.
constexpr uint64_t mark = uint64_t{1} << 63;
constexpr uint64_t mark_of_another = mark >> 1;

constexpr const char* reductions[] = {"MPI_SUM",  "MPI_MIN",  "MPI_MAX", "MPI_PROD", "MPI_BAND",   "MPI_BOR",
                                      "MPI_BXOR", "MPI_LAND", "MPI_LOR", "MPI_LXOR", "MPI_MINLOC", "MPI_MAXLOC"};
constexpr const char* basics[] = {"",
                                  "int8",
                                  "int16",
                                  "int32",
                                  "int64",
                                  "int128",
                                  "uint8",
                                  "uint16",
                                  "uint32",
                                  "uint64",
                                  "float16",
                                  "bfloat16",
                                  "float32",
                                  "float64",
                                  "float80",
                                  "float128",
                                  "complex32",
                                  "complex64",
                                  "complex128",
                                  "complex160",
                                  "complex256",
                                  "bool",
                                  "logical8",
                                  "logical16",
                                  "logical32",
                                  "logical64",
                                  "logical128",
                                  "character",
                                  "byte",
                                  "packed",
                                  "wide characters",
                                  "float and int",
                                  "double and int",
                                  "long and int",
                                  "two ints",
                                  "short and int",
                                  "long double and int",
                                  "two floats",
                                  "two doubles",
                                  "two Fortran integers"};
static_assert(std::size(basics) == static_cast<size_t>(datatype::Basic::two_fortran_int) + 1);

bool is_reduction(Collective one) {
  return one == Collective::reduce || one == Collective::allreduce || one == Collective::reduce_scatter ||
         one == Collective::scan;
}

std::string text_of(uint64_t call) {
  const uint64_t number = call >> collective_shift & collective_most;
  if (number >= collective_count) return "an operation that is unknown";
  const auto collective = static_cast<Collective>(number);
  std::string result = name(collective);
  const uint64_t root = call >> root_shift & root_most;
  if (root != root_most) result += " with root " + std::to_string(root);
  if (is_reduction(collective)) {
    const uint64_t reduction = call >> reduction_shift & reduction_most;
    const uint64_t basic = call >> basic_shift & basic_most;
    result += " by ";
    result += reduction < std::size(reductions) ? reductions[reduction] : "a function of the program";
    if (basic != 0 && basic < std::size(basics)) result += std::string(" of ") + basics[basic];
  }
  if (knows_bytes(collective) && collective != Collective::barrier) {
    result += ", " + std::to_string(call & bytes) + " bytes";
  }
  return result;
}

}  // namespace

int32_t error_of(uint64_t one, uint64_t other) {
  const uint64_t differ = one ^ other;
  if ((differ >> collective_shift & collective_most) != 0) return core::other_error;
  if ((differ >> root_shift & root_most) != 0) return core::wrong_root;
  if ((differ >> reduction_shift & reduction_most) != 0) return core::wrong_op;
  if ((differ >> basic_shift & basic_most) != 0) return core::wrong_type;
  return core::truncated;
}

core::Truncation difference(int32_t rank, uint64_t theirs, uint64_t second, Whose whose) {
  if (whose == Whose::of_another) second |= mark_of_another;
  return {rank, static_cast<int64_t>(theirs | mark), static_cast<int64_t>(second | mark)};
}

bool is_difference(const core::Truncation& truncation) {
  return truncation.sent < 0 && truncation.room < 0;
}

std::string text(const core::Truncation& truncation) {
  const auto second = static_cast<uint64_t>(truncation.room);
  return "ranks disagree about a collective operation: rank " + std::to_string(truncation.source) + " calls " +
         text_of(static_cast<uint64_t>(truncation.sent)) +
         ((second & mark_of_another) != 0 ? "; another rank calls " : "; this rank calls ") + text_of(second) +
         ". All ranks must call the same operations in the same order, with the same root, operation, types and sizes";
}

}  // namespace weft::coll::call
