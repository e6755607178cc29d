// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/names.hpp"

#include <unordered_map>

#include "core/lane/lane.hpp"

namespace weft::core::rma {
namespace {

std::atomic<uint32_t> last_generation = 0;

// By context; written with all lanes held, so that the holder of any may read it. Never destroyed: other threads may be
// at it when the process ends.
std::unordered_map<uint32_t, Window*>& windows() {
  static auto& all = *new std::unordered_map<uint32_t, Window*>;
  return all;
}

}  // namespace

uint32_t propose_generation() {
  return last_generation.fetch_add(1, std::memory_order_relaxed) + 1;
}

void give_name(Window& window, uint32_t generation) {
  uint32_t last = last_generation.load(std::memory_order_relaxed);
  while (last < generation && !last_generation.compare_exchange_weak(last, generation, std::memory_order_relaxed)) {
  }
  const AllLanesGuard guard;
  window.generation = generation;
  windows()[window.comm->context] = &window;
}

void forget_name(Window& window) {
  if (window.generation == 0) return;
  const AllLanesGuard guard;
  windows().erase(window.comm->context);
  window.generation = 0;
}

Window* find_window(uint32_t context, uint32_t generation) {
  const auto at = windows().find(context);
  return at != windows().end() && at->second->generation == generation ? at->second : nullptr;
}

void each_window(void (*look)(Window& window, void* about), void* about) {
  const LaneGuard guard(lanes->all[0], LaneGuard::TryTag{});
  if (!guard.held()) return;
  for (const auto& [context, window] : windows()) look(*window, about);
}

}  // namespace weft::core::rma
