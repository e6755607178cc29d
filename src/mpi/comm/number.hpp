// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The numbers of communicators (core/context.hpp) as a team agrees on them.

#include "core/context.hpp"
#include "mpi/comm/agree.hpp"

namespace weft::mpi {

using core::end_releases;
using core::hold_context;
using core::no_context;
using core::no_offer;
using core::owner_in;
using core::release_context;

// A number of this process on offer to a team, as a part of its vote. Ends with settle().
struct Offer {
  uint64_t vote;

  // By the member of this rank in a team of so many.
  [[nodiscard]] static Offer of(int32_t team_size, int32_t rank) { return {core::offer_context(team_size, rank)}; }
};

// Ends an offer by what the team agreed on. False when that is no number: nobody had one left.
[[nodiscard]] inline bool try_settle(const Offer& offer, uint64_t agreed) {
  return core::settle_offer(offer.vote, agreed);
}
// The same; raises an error then.
[[nodiscard]] int settle(const char* function, const Comm* errors_on, const Offer& offer, uint64_t agreed);

// core::hold_context() for a member of this team.
[[nodiscard]] uint32_t hold_context(const Team& team, uint64_t agreed);

// All of it: offers, agrees and holds. `bits`, when given: see Vote. Raises an error when there is no number left.
[[nodiscard]] int agree_on_context(const char* function, const Team& team, uint32_t& context, uint64_t* bits = nullptr);

}  // namespace weft::mpi
