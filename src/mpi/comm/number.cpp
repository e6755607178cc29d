// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/number.hpp"

#include "core/tree.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

int settle(const char* function, const Comm* errors_on, const Offer& offer, uint64_t agreed) {
  if (try_settle(offer, agreed)) return MPI_SUCCESS;
  return fail(errors_on, function, MPI_ERR_OTHER,
              "there are no numbers left for a communicator of these ranks: free communicators");
}

uint32_t hold_context(const Team& team, uint64_t agreed) {
  const core::TreePlace place = core::tree_place(team.rank, team.size, owner_in(agreed));
  return hold_context(agreed, place.above < 0 ? core::ContextNumbers::nobody : team.job_rank(place.above), place.below);
}

int agree_on_context(const char* function, const Team& team, uint32_t& context, uint64_t* bits) {
  const auto& parent = static_cast<const Comm&>(team.parent);
  const Offer offer = Offer::of(team.size, team.rank);
  Vote vote{offer.vote, bits != nullptr ? *bits : 0};
  const int32_t error = agree(team, vote);
  if (error != core::no_error) return fail(&parent, function, error, "the ranks could not agree on a context");
  if (int none = settle(function, &parent, offer, vote.offer)) return none;
  context = hold_context(team, vote.offer);
  if (bits != nullptr) *bits = vote.bits;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
