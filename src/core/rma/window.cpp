// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/window.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>

#include "core/handler.hpp"
#include "core/rma/outbox.hpp"
#include "core/world.hpp"

namespace weft::core::rma {
namespace {

MemoryRef describe(const void* memory, uint64_t bytes) {
  return world->transports.name_memory(const_cast<void*>(memory), bytes);
}

bool is_here(int32_t job_rank) {
  return job_rank == world->rank || world->job.place_here(job_rank) >= 0;
}

void meet(const Window& window, Target& target, const Part& part) {
  if (!is_here(target.job_rank)) return;
  const bool own = target.job_rank == world->rank;
  target.control = own ? window.control : reinterpret_cast<Control*>(map_of(target.job_rank, part.control));
  target.atomics = part.memory.key != MemoryRef::no_key && window.flavor != Flavor::dynamic;
  target.mapped = own ? window.base : target.atomics ? map_of(part.holder, part.memory) : nullptr;
  target.reach = own || target.mapped != nullptr ? Reach::mapped : Reach::kernel;
}

}  // namespace

void prepare(Window& window, Flavor flavor, Part& part) {
  window.flavor = flavor;
  window.size = window.comm->size;
  window.rank = window.comm->rank;
  part = {.bytes = window.bytes,
          .unit = static_cast<uint64_t>(window.unit),
          .window = reinterpret_cast<uint64_t>(&window),
          .holder = world->rank,
          .error = no_memory};
  const size_t waiting = sizeof(Control) + static_cast<size_t>(world->ranks_here()) * sizeof(std::atomic<int32_t>);
  const size_t attached_at = (waiting + alignof(Attached) - 1) & ~(alignof(Attached) - 1);
  const size_t control_size = attached_at + (flavor == Flavor::dynamic ? sizeof(Attached) : 0);
  void* control = allocate_shared(control_size, 1);
  if (control == nullptr) return;
  std::memset(control, 0, control_size);
  window.control = static_cast<Control*>(control);
  window.control->attached_at = attached_at;
  if (flavor == Flavor::allocate) {
    window.base = static_cast<char*>(allocate_shared(std::max<uint64_t>(window.bytes, 1), window.alignment));
    if (window.base == nullptr) return;
    window.owns_memory = true;
  }
  if (flavor == Flavor::dynamic) part.bytes = std::numeric_limits<uint64_t>::max();
  part.memory = describe(window.base, window.bytes);
  part.control = describe(window.control, control_size);
  part.error = no_error;
}

int32_t open(Window& window, const Part* parts) {
  window.targets = new (std::nothrow) Target[static_cast<size_t>(window.size)];
  if (window.targets == nullptr) return no_memory;
  for (int32_t r = 0; r < window.size; ++r) {
    Target& target = window.targets[r];
    target.bytes = parts[r].bytes;
    target.unit = parts[r].unit;
    target.words = target.bytes < 8 ? 0 : target.bytes - 7;
    target.memory = parts[r].memory;
    target.window = parts[r].window;
    target.job_rank = window.comm->job_rank(r);
    meet(window, target, parts[r]);
  }
  return no_error;
}

char* map_of(int32_t job_rank, const MemoryRef& memory) {
  if (job_rank == world->rank) return reinterpret_cast<char*>(memory.address);
  return static_cast<char*>(world->peer(job_rank).endpoint->map(memory));
}

void close(Window& window) {
  if (window.targets != nullptr) {
    // Nobody uses the window any more, but a nudge may still lie in our ring.
    LaneGuard guard(world->lanes[0]);
    for (transport::Transport* t : world->transports.all()) {
      if (t->capabilities().get_put) t->drain(0, on_arrival);
    }
  }
  for (int32_t r = 0; window.targets != nullptr && r < window.size; ++r) drop_outbox(window.targets[r]);
  delete[] window.targets;
  window.targets = nullptr;
  if (window.owns_memory) (void)release_shared(window.base);
  if (window.control != nullptr) (void)release_shared(window.control);
  window.control = nullptr;
}

int32_t attach(Window& window, void* base, uint64_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(base);
  std::lock_guard guard(window.attaching);
  const auto overlaps = [&](const Region& r) { return begin < r.end && r.begin < begin + bytes; };
  if (std::any_of(window.regions.begin(), window.regions.end(), overlaps)) return rma_attach;
  window.regions.push_back({begin, begin + bytes});
  window.control->attached().publish(window.regions);
  return no_error;
}

bool detach(Window& window, const void* base) {
  const auto begin = reinterpret_cast<uint64_t>(base);
  std::lock_guard guard(window.attaching);
  const auto at = std::find_if(window.regions.begin(), window.regions.end(),
                               [&](const Region& region) { return region.begin == begin; });
  if (at == window.regions.end()) return false;
  window.regions.erase(at);
  window.control->attached().publish(window.regions);
  return true;
}

// The release pairs with the acquire of who finds the new version.
void Attached::publish(const std::vector<Region>& all) {
  const uint32_t before = version.load(std::memory_order_relaxed);
  version.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // what follows is seen after this
  count.store(static_cast<uint32_t>(all.size()), std::memory_order_relaxed);
  for (size_t i = 0; i < std::min<size_t>(all.size(), most); ++i) {
    regions[i].begin.store(all[i].begin, std::memory_order_relaxed);
    regions[i].end.store(all[i].end, std::memory_order_relaxed);
  }
  version.store(before + 2, std::memory_order_release);
}

bool Attached::holds(uint64_t begin, uint64_t end) const {
  for (;;) {
    const uint32_t before = version.load(std::memory_order_acquire);
    const uint32_t all = count.load(std::memory_order_relaxed);
    const bool found = all > most || are_in_regions(begin, end, all, [&](uint32_t i) {
                         return Region{regions[i].begin.load(std::memory_order_relaxed),
                                       regions[i].end.load(std::memory_order_relaxed)};
                       });
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) return found;
  }
}

}  // namespace weft::core::rma
