// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Constants of the two ABIs: ranks, tags, error classes, kinds of things. Other numbers pass as they are, unless they
// have a meaning on the other side that they do not have on their own: those become `no_value`, which is wrong
// everywhere.

#include <climits>
#include <cstddef>
#include <iterator>

#include "foreign/values.hpp"
#include "mpi/functions.hpp"

namespace weft::foreign {

inline constexpr int no_value = INT_MIN;

template <size_t n>
constexpr int to_standard(const ValueRow (&rows)[n], int value) {
  bool taken = false;
  for (const ValueRow& row : rows) {
    if (row.theirs == value) return row.standard;
    taken |= row.standard == value;
  }
  return taken ? no_value : value;
}

template <size_t n>
constexpr int to_theirs(const ValueRow (&rows)[n], int value) {
  for (const ValueRow& row : rows) {
    if (row.standard == value) return row.theirs;
  }
  return value;
}

#define WEFT_FAMILY(name)                   \
  inline int name##_in(int value) {         \
    return to_standard(name##_rows, value); \
  }                                         \
  inline int name##_out(int value) {        \
    return to_theirs(name##_rows, value);   \
  }
WEFT_FAMILY(cb_safety)
WEFT_FAMILY(bind)
WEFT_FAMILY(combiner)
WEFT_FAMILY(comparison)
WEFT_FAMILY(distribution)
WEFT_FAMILY(distribution_argument)
WEFT_FAMILY(flavor)
WEFT_FAMILY(keyval)
WEFT_FAMILY(lock)
WEFT_FAMILY(model)
WEFT_FAMILY(order)
WEFT_FAMILY(pvar_class)
WEFT_FAMILY(scope)
WEFT_FAMILY(seek)
WEFT_FAMILY(source_order)
WEFT_FAMILY(split)
WEFT_FAMILY(thread)
WEFT_FAMILY(topology)
WEFT_FAMILY(typeclass)
WEFT_FAMILY(verbosity)
#undef WEFT_FAMILY

// A real rank or tag is not looked up.
[[gnu::cold, gnu::noinline]] int named_rank_in(int rank);
[[gnu::cold, gnu::noinline]] int named_tag_in(int tag);
inline int rank_in(int rank) {
  if (rank >= 0) [[likely]]
    return rank;
  return named_rank_in(rank);
}
inline int rank_out(int rank) {
  return rank >= 0 ? rank : to_theirs(rank_rows, rank);
}
inline int tag_in(int tag) {
  if (tag >= 0) [[likely]]
    return tag;
  return named_tag_in(tag);
}
inline int tag_out(int tag) {
  return tag >= 0 ? tag : to_theirs(tag_rows, tag);
}

// Bits that have no meaning become one that the function rejects.
template <size_t n>
constexpr int bits(const ValueRow (&rows)[n], int given, int ValueRow::*from, int ValueRow::*to) {
  int result = 0;
  for (const ValueRow& row : rows) {
    if ((given & row.*from) == 0) continue;
    result |= row.*to;
    given &= ~(row.*from);
  }
  return given == 0 ? result : result | 1 << 30;
}
inline int assertion_in(int value) {
  return bits(assertion_rows, value, &ValueRow::theirs, &ValueRow::standard);
}
inline int access_in(int value) {
  return bits(access_rows, value, &ValueRow::theirs, &ValueRow::standard);
}
inline int access_out(int value) {
  return bits(access_rows, value, &ValueRow::standard, &ValueRow::theirs);
}

inline MPI_Offset displacement_in(MPI_Offset offset) {
  return offset == displacement_rows[0].theirs ? MPI_DISPLACEMENT_CURRENT : offset;
}

// An error code of the other ABI is its class, or one that the program has added: those begin above MPI_ERR_LASTCODE in
// both ABIs.
inline constexpr int last_code = MPI_ERR_LASTCODE;

[[gnu::cold, gnu::noinline]] int cold_error_out(int error);
[[gnu::cold, gnu::noinline]] int error_in(int error);

inline int error_out(int error) {
  if (error == MPI_SUCCESS) [[likely]]
    return error;
  return cold_error_out(error);
}

}  // namespace weft::foreign
