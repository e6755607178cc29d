// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the members of a new communicator settle before they have it: messages among some ranks of a parent, on its
// collective context. Tags are negative there, which keeps them apart from collective operations.

#include <limits>

#include "mpi/object.hpp"

namespace weft::mpi {

// The tag of functions that all ranks of the parent call.
inline constexpr int32_t collective_creation_tag = std::numeric_limits<int32_t>::min();

// The tag of MPI_Comm_create_group(tag): negative, and neither of the two values with a meaning.
constexpr int32_t group_creation_tag(int32_t tag) {
  int32_t folded = collective_creation_tag + 1 + (tag == std::numeric_limits<int32_t>::max() ? 0 : tag);
  return folded > -16 ? folded - 16 : folded;
}

struct Team {
  Comm& parent;
  int32_t size;
  int32_t rank;          // ours in the team
  const int32_t* ranks;  // in the parent, by rank in the team; nullptr: the same
  int32_t tag;

  int32_t parent_rank(int32_t r) const { return ranks == nullptr ? r : ranks[r]; }
};

// All ranks of a communicator.
inline Team everybody(Comm& comm) {
  return {comm, comm.size, comm.rank, nullptr, collective_creation_tag};
}

// The smallest of everybody's values, in ceil(log2(size)) rounds. Returns an error class.
[[nodiscard]] int32_t agree_on_smallest(const Team& team, uint32_t& value);

// Everybody's `bytes` at `mine`, by rank in the team, in ceil(log2(size)) rounds. Returns an error class.
[[nodiscard]] int32_t gather_all(const Team& team, const void* mine, int64_t bytes, void* all);

}  // namespace weft::mpi
