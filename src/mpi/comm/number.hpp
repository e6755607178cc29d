// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The numbers of communicators (context.hpp) as this process offers, gets and gives them back.

#include "mpi/comm/agree.hpp"

namespace weft::mpi {

// A number of this process on offer to a team, as a part of its vote: of all, the smallest counts. Ends with settle().
struct Offer {
  uint64_t vote;  // the number, and behind it the proposer's rank in the team

  // By the member of this rank in a team of so many.
  [[nodiscard]] static Offer of(int32_t team_size, int32_t rank);
};
[[nodiscard]] inline int32_t owner_in(uint64_t vote) {
  return static_cast<int32_t>(vote & UINT32_MAX);
}

// The vote of a team that makes no communicator after all.
inline constexpr uint64_t no_offer = UINT64_MAX;

// Ends a proposal by the team's result. False when that is no number: no member had one left.
[[nodiscard]] bool try_settle(const Offer& offer, uint64_t agreed);
// The same; raises an error then.
[[nodiscard]] int settle(const char* function, const Comm* errors_on, const Offer& offer, uint64_t agreed);

// The number agreed on is in use from now on by a team, one of which offered it. Returns the context. The tree is of
// the team with its owner as the root; `above` is a job rank.
[[nodiscard]] uint32_t hold_context(uint64_t agreed, int32_t above, int32_t below);
[[nodiscard]] uint32_t hold_context(const Team& team, uint64_t agreed);

// Of a communicator that has none yet: no rank ever receives there.
inline constexpr uint32_t no_context = core::partitioned_contexts | core::creation_contexts | core::local_contexts;

// This process has no more use for a context that it held; or it is none.
void release_context(uint32_t context);

// Releases matter no more: the process is about to leave the job, and its peers, which may leave before, must not be
// told.
void end_releases();

// All of it: offers, agrees and holds. `bits`, when given: see Vote. Raises an error when there is no number left.
[[nodiscard]] int agree_on_context(const char* function, const Team& team, uint32_t& context, uint64_t* bits = nullptr);

}  // namespace weft::mpi
