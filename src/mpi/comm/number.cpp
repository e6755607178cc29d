// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/number.hpp"

#include <atomic>

#include "core/notice.hpp"
#include "core/world.hpp"
#include "mpi/comm/context.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

void release_number(uint32_t number);

// Made with the first communicator, kept until the process ends.
ContextNumbers& numbers() {
  static auto* const ours = [] {
    core::on_notice = release_number;  // others may tell us from the moment on that they have our vote
    return new ContextNumbers(core::world->rank, core::world->size);
  }();
  return *ours;
}

constinit std::atomic<bool> ended = false;

// For this process, or for one below it.
void release_number(uint32_t number) {
  if (ended.load(std::memory_order_relaxed)) return;
  const int32_t up = numbers().release(number);
  if (up != ContextNumbers::nobody) core::send_notice(up, number);
}

uint32_t number_in(uint64_t vote) {
  return static_cast<uint32_t>(vote >> 32);
}

}  // namespace

Offer Offer::of(int32_t team_size, int32_t rank) {
  return {uint64_t{numbers().offer(team_size)} << 32 | static_cast<uint32_t>(rank)};
}

bool try_settle(const Offer& offer, uint64_t agreed) {
  numbers().settle(number_in(offer.vote), number_in(agreed));
  return number_in(agreed) != ContextNumbers::none;
}

int settle(const char* function, const Comm* errors_on, const Offer& offer, uint64_t agreed) {
  if (try_settle(offer, agreed)) return MPI_SUCCESS;
  return fail(errors_on, function, MPI_ERR_OTHER,
              "there are no numbers left for a communicator of these ranks: free communicators");
}

uint32_t hold_context(uint64_t agreed, int32_t above, int32_t below) {
  numbers().hold(number_in(agreed), above, below);
  return 2 * number_in(agreed);
}

uint32_t hold_context(const Team& team, uint64_t agreed) {
  const TreePlace place = tree_place(team.rank, team.size, owner_in(agreed));
  return hold_context(agreed, place.above < 0 ? ContextNumbers::nobody : team.job_rank(place.above), place.below);
}

void release_context(uint32_t context) {
  if (context != no_context) release_number(context / 2);
}

void end_releases() {
  ended.store(true, std::memory_order_relaxed);
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
