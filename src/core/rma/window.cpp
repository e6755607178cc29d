// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/window.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>

namespace weft::core::rma {
namespace {

size_t targets_bytes(const Window& window) {
  return static_cast<size_t>(window.size) * sizeof(Target);
}

}  // namespace

bool reserve_targets(Window& window) {
  void* memory =
      mmap(nullptr, targets_bytes(window), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  (void)madvise(memory, targets_bytes(window), MADV_NOHUGEPAGE);  // a target costs a page, not 2 MiB
  window.targets = static_cast<Target*>(memory);
  return true;
}

void release_targets(Window& window) {
  if (window.targets != nullptr) munmap(window.targets, targets_bytes(window));
  window.targets = nullptr;
}

int32_t attach(Window& window, void* base, uint64_t bytes, bool on_device) {
  const auto begin = reinterpret_cast<uint64_t>(base);
  std::lock_guard guard(window.attaching);
  const auto overlaps = [&](const AttachedRange& r) { return begin < r.end && r.begin < begin + bytes; };
  if (std::any_of(window.pieces.begin(), window.pieces.end(), overlaps)) return rma_attach;
  if (on_device) {
    window.on_device = true;
    window.comm->host_memory = false;
    window.targets[window.rank].region.reach.store(Reach::device, std::memory_order_relaxed);
    window.control->attached().on_device.store(1, std::memory_order_relaxed);
  }
  window.pieces.push_back({begin, begin + bytes});
  window.control->attached().publish(window.pieces);
  return no_error;
}

bool detach(Window& window, const void* base) {
  const auto begin = reinterpret_cast<uint64_t>(base);
  std::lock_guard guard(window.attaching);
  const auto at = std::find_if(window.pieces.begin(), window.pieces.end(),
                               [&](const AttachedRange& piece) { return piece.begin == begin; });
  if (at == window.pieces.end()) return false;
  window.pieces.erase(at);
  window.control->attached().publish(window.pieces);
  return true;
}

// The release pairs with the acquire of the reader that finds the new version.
void Attached::publish(const std::vector<AttachedRange>& all) {
  const uint32_t before = version.load(std::memory_order_relaxed);
  version.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // what follows is seen after this
  count.store(static_cast<uint32_t>(all.size()), std::memory_order_relaxed);
  for (size_t i = 0; i < std::min<size_t>(all.size(), most); ++i) {
    pieces[i].begin.store(all[i].begin, std::memory_order_relaxed);
    pieces[i].end.store(all[i].end, std::memory_order_relaxed);
  }
  version.store(before + 2, std::memory_order_release);
}

bool Attached::holds(uint64_t begin, uint64_t end) const {
  for (;;) {
    const uint32_t before = version.load(std::memory_order_acquire);
    const uint32_t all = count.load(std::memory_order_relaxed);
    const bool found = all > most || are_in_pieces(begin, end, all, [&](uint32_t i) {
                         return AttachedRange{pieces[i].begin.load(std::memory_order_relaxed),
                                              pieces[i].end.load(std::memory_order_relaxed)};
                       });
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) return found;
  }
}

}  // namespace weft::core::rma
