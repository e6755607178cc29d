// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The members of a new communicator agree by messages over a parent before they have it.

#include <limits>

#include "mpi/object/object.hpp"

namespace weft::mpi {

// Creations that all ranks of a parent take part in use its collective context. Tags are negative there, which keeps
// them apart from collective operations: one for the blocking functions, and a range for the others, counted through.
inline constexpr int32_t collective_creation_tag = std::numeric_limits<int32_t>::min();
constexpr int32_t background_creation_tag(uint32_t count) {
  return collective_creation_tag + 1 + static_cast<int32_t>(count % (1U << 30));
}

// The makers of a communicator, ranked, and how they reach each other: some or all ranks of a parent. Of an
// intercommunicator they are the ranks of both sides, those of the leading one first.
struct Team {
  core::Comm& parent;
  int32_t size;
  int32_t rank;          // ours in the team
  const int32_t* ranks;  // in the parent, by rank in the team; nullptr: all of them
  uint32_t context;      // of messages; between two sides, and within our own side of an intercommunicator, the
                         // collective one
  int32_t tag;

  // Where a member is reached.
  struct Place {
    core::Comm& comm;
    uint32_t context;
    int32_t rank;
  };
  [[nodiscard]] Place place(int32_t r) const;
  [[nodiscard]] int32_t job_rank(int32_t r) const;

  // Where our side of an intercommunicator begins in the team, and where the other side does.
  [[nodiscard]] int32_t our_side() const { return parent.leads ? 0 : parent.size; }
  [[nodiscard]] int32_t other_side() const { return parent.leads ? parent.local_size() : 0; }
};

// All ranks of a communicator, of both sides.
[[nodiscard]] Team everybody(core::Comm& comm, int32_t tag = collective_creation_tag);

// The members' common result.
struct Vote {
  uint64_t offer;  // the smallest of all: a context number, and whose it is (number.hpp)
  uint64_t bits;   // that everybody has set

  void take_in(const Vote& other) {
    if (other.offer < offer) offer = other.offer;
    bits &= other.bits;
  }
};

// Whom a member hears from in the round of this distance, and whom it tells. Rounds are of distance 1, 2, 4, ... below
// the team's size: a vote has then taken in everybody's.
[[nodiscard]] inline int32_t heard_from(const Team& team, int64_t distance) {
  return static_cast<int32_t>((team.rank + distance) % team.size);
}
[[nodiscard]] inline int32_t told_to(const Team& team, int64_t distance) {
  return static_cast<int32_t>((team.rank - distance + team.size) % team.size);
}

// The vote of all, in ceil(log2(size)) rounds. Returns an error class.
[[nodiscard]] int32_t agree(const Team& team, Vote& vote);

// Everybody's `bytes` at `mine`, by rank in the team, in ceil(log2(size)) rounds. Returns an error class.
[[nodiscard]] int32_t gather_all(const Team& team, const void* mine, int64_t bytes, void* all);

// `bytes` of member `root` for all others, along a binomial tree. Returns an error class.
[[nodiscard]] int32_t spread(const Team& team, int32_t root, void* data, int64_t bytes);

}  // namespace weft::mpi
