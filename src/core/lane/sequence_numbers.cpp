// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/lane/sequence_numbers.hpp"

#include <algorithm>

#include "core/lane/lane.hpp"
#include "core/peer/peer.hpp"

namespace weft::core {

namespace {

uint64_t key_of(int32_t from, uint32_t place) {
  return uint64_t{static_cast<uint32_t>(from)} << 32 | place;
}

}  // namespace

bool LaneTally::add(uint64_t number) {
  ++arrived;
  if (top < number) top = number;
  if (number > watched) return false;
  ++late;
  return true;
}

bool Watches::is_next(const Unexpected& message) {
  const int32_t from = message.numbered_by;
  if (from == transport::no_peer) return true;
  if (const Peer* sender = peers->find(from); sender->lost.load(std::memory_order_relaxed) != 0) return true;
  const uint64_t number = message.envelope.stamp;
  GapWatch& watch = watches_[key_of(from, Stamps::place_of(message.envelope.context))];
  if (number <= watch.complete) return true;

  const uint32_t count = lanes->map.lanes();
  uint64_t arrived = 0;
  uint64_t top = 0;
  uint64_t late = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const LaneTally& tally = lanes->all[i].tallies.of(from, message.envelope.context);
    arrived += tally.arrived;
    top = std::max(top, tally.top);
    late += tally.late;
  }
  auto set_watched = [&](uint64_t watched) {
    watch.watched = watched;
    for (uint32_t i = 0; i < count; ++i) {
      LaneTally& tally = lanes->all[i].tallies.of(from, message.envelope.context);
      tally.watched = watched;
      tally.late = 0;
    }
  };
  if (watch.watched != 0 && late == watch.missing) {
    watch.complete = watch.watched;
    set_watched(0);
  }
  if (arrived == top) watch.complete = top;
  if (number <= watch.complete) {
    if (watch.watched != 0 && watch.watched <= watch.complete) set_watched(0);
    return true;
  }
  if (watch.watched == 0) {
    watch.missing = top - arrived;
    set_watched(top);
  }
  return false;
}

}  // namespace weft::core
