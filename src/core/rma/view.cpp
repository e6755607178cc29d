// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/view.hpp"

#include <mutex>

#include "core/rma/outbox.hpp"

namespace weft::core::rma {

bool open_view(Window& view, Window& window) {
  view.shows = &window;
  view.flavor = window.flavor;
  view.comm = window.comm;
  view.size = window.size;
  view.rank = window.rank;
  view.base = window.base;
  view.bytes = window.bytes;
  view.unit = window.unit;
  view.control = window.control;
  view.generation = window.generation;
  view.busy_here = window.busy_here;
  view.drop_type = window.drop_type;
  view.epoch = Epoch::lock_all;
  view.checked = false;
  return reserve_targets(view);
}

void close_view(Window& view) {
  drop_outboxes(view);
  release_targets(view);
}

void meet_in_view(Window& view, int32_t rank) {
  const Target& known = meet(*view.shows, rank);
  std::lock_guard guard(view.guard);
  Target& target = view.targets[rank];
  if (target.met.load(std::memory_order_relaxed)) return;
  target.word_unit = known.word_unit;
  target.words = known.words;
  target.control = known.control;
  target.unit = known.unit;
  memory::Region& region = target.region;
  region.job_rank = known.region.job_rank;
  region.reach.store(known.region.reach.load(std::memory_order_relaxed), std::memory_order_relaxed);
  region.atomics = known.region.atomics;
  region.bytes = known.region.bytes;
  region.mapped = known.region.mapped;
  region.memory = known.region.memory;
  region.updates = known.region.updates;
  target.met.store(true, std::memory_order_release);  // pairs with the acquire load in `meet()`
}

}  // namespace weft::core::rma
