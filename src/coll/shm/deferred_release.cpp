// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/deferred_release.hpp"

#include <mutex>
#include <vector>

#include "base/lock.hpp"
#include "core/memory/shared.hpp"

namespace weft::coll {

namespace {

struct DeferredRelease {
  std::atomic<int32_t>* left;
  int32_t size;
  void* memory[2];
};
constinit base::Lock lock;
constinit std::vector<DeferredRelease>* deferred = nullptr;

}  // namespace

void release_when_left(std::atomic<int32_t>& left, int32_t size, void* first, void* second) {
  std::lock_guard guard(lock);
  if (deferred == nullptr) deferred = new std::vector<DeferredRelease>;
  deferred->push_back({&left, size, {first, second}});
}

void release_empty() {
  std::lock_guard guard(lock);
  if (deferred == nullptr) return;
  std::erase_if(*deferred, [](const DeferredRelease& one) {
    if (one.left->load(std::memory_order_acquire) != one.size) return false;
    for (void* memory : one.memory) {
      if (memory != nullptr) (void)core::release_shared(memory);
    }
    return true;
  });
}

}  // namespace weft::coll
