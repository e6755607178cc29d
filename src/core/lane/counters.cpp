// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/lane/counters.hpp"

#include <algorithm>

#include "core/lane/lane.hpp"

namespace weft::core {

Counters counters() {
  Counters all;
  const ThreadTotals totals = thread_totals();
  for (int p = 0; p < path_count; ++p) all.sent[p] = totals.sent[p];
  all.retries = totals.retries;
  all.sleeps = totals.sleeps;
  all.slept_ns = totals.slept_ns;
  all.lanes = lanes->map.lanes();
  for (uint32_t i = 0; i < transport::max_lanes; ++i) {  // all there may be: start() may be at work
    all.unexpected += counted(lanes->all[i].unexpected);
    all.lock_waits += counted(lanes->all[i].lock_waits);
    all.settlements += counted(lanes->all[i].settlements);
    all.saturations += counted(lanes->all[i].saturations);
    all.reads_failed += counted(lanes->all[i].reads_failed);
    all.writes_failed += counted(lanes->all[i].writes_failed);
    all.bytes_placed += counted(lanes->all[i].bytes_placed);
    all.stale += counted(lanes->all[i].stale);
    all.arrived[i] = lanes->all[i].arrived.load(std::memory_order_relaxed);
  }
  return all;
}

UnexpectedCount kept_messages() {
  UnexpectedCount all;
  for (const Lane& lane : lanes->all) {
    all.messages += lane.matcher.kept();
    all.bytes += static_cast<uint64_t>(lane.unexpected_bytes.load(std::memory_order_relaxed));
    all.most_messages = std::max(all.most_messages, counted(lane.most_unexpected));
    all.most_bytes = std::max(all.most_bytes, counted(lane.most_unexpected_bytes));
  }
  return all;
}

}  // namespace weft::core
