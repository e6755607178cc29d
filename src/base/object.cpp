// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/object.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <bit>
#include <cstring>

#include "base/address_space.hpp"
#include "base/clock.hpp"

#ifdef WEFT_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace weft::base {
namespace {

// Slots up to small_limit have a list for every multiple of 64 bytes; larger ones a list for every power of two.
constexpr size_t small_limit = 4096;
constexpr size_t small_classes = small_limit / Arena::slot_align;
constexpr size_t classes = small_classes + 64;
constexpr size_t reserve_most = size_t{64} << 30;
constexpr size_t reserve_least = size_t{16} << 20;  // an address space limit (ulimit -v) may leave no more
constexpr size_t commit_step = size_t{256} << 10;

// A free slot: the first word stays Kind::free, so that a handle to it is still told apart.
struct FreeSlot {
  Kind kind;
  FreeSlot* next;
};

class SpinLock {
 public:
  void lock() {
    for (int spins = 0; busy_.exchange(true, std::memory_order_acquire);) {
      if (++spins < 100)
        cpu_relax();
      else
        sched_yield();
    }
  }
  void unlock() { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> busy_{false};
};

struct ArenaState {
  SpinLock lock;
  size_t reserved = 0;
  size_t committed = 0;
  FreeSlot* free[classes] = {};
};
constinit ArenaState state;

size_t slot_bytes(size_t bytes) {
  if (bytes <= small_limit)
    return bytes == 0 ? Arena::slot_align : (bytes + Arena::slot_align - 1) & ~(Arena::slot_align - 1);
  return std::bit_ceil(bytes);
}

size_t class_of(size_t slot) {
  if (slot <= small_limit) return slot / Arena::slot_align - 1;
  return small_classes + static_cast<size_t>(std::countr_zero(slot));
}

// Under the address sanitizer a free slot is out of bounds except for the words that a check of a handle reads: the
// first of each line, and the list's own.
void forbid([[maybe_unused]] void* slot, [[maybe_unused]] size_t bytes) {
#ifdef WEFT_ASAN
  for (size_t at = 0; at < bytes; at += Arena::slot_align) {
    size_t kept = at == 0 ? sizeof(FreeSlot) : 8;
    __asan_poison_memory_region(static_cast<char*>(slot) + at + kept, Arena::slot_align - kept);
  }
#endif
}

void allow([[maybe_unused]] void* slot, [[maybe_unused]] size_t bytes) {
#ifdef WEFT_ASAN
  __asan_unpoison_memory_region(slot, bytes);
#endif
}

void* reserve(size_t& bytes) {
  bytes = reserve_most;
  void* const range = reserve_address_space(bytes, reserve_least, [](size_t some) {
    return mmap(nullptr, some, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  });
  if (range != MAP_FAILED) return range;
  bytes = 0;
  return nullptr;
}

}  // namespace

// Takes fresh slots behind those that were handed out. The caller holds the lock.
struct ArenaGrowth {
  static void* take(size_t bytes) {
    if (state.reserved == 0) {
      void* range = reserve(state.reserved);
      if (!range) return nullptr;
      Arena::base_.store(reinterpret_cast<uintptr_t>(range), std::memory_order_relaxed);
    }
    uintptr_t base = Arena::base_.load(std::memory_order_relaxed);
    size_t used = Arena::used_.load(std::memory_order_relaxed);
    if (bytes > state.reserved - used) return nullptr;
    if (used + bytes > state.committed) {
      size_t more = (used + bytes - state.committed + commit_step - 1) & ~(commit_step - 1);
      if (more > state.reserved - state.committed) return nullptr;
      void* at = reinterpret_cast<void*>(base + state.committed);
      if (mprotect(at, more, PROT_READ | PROT_WRITE) != 0) return nullptr;
      state.committed += more;
    }
    Arena::used_.store(used + bytes, std::memory_order_release);
    return reinterpret_cast<void*>(base + used);
  }
};

void* Arena::allocate(size_t bytes) {
  if (bytes > reserve_most / 2) return nullptr;
  size_t slot = slot_bytes(bytes);
  state.lock.lock();
  FreeSlot*& list = state.free[class_of(slot)];
  void* memory = list;
  if (list)
    list = list->next;
  else
    memory = ArenaGrowth::take(slot);
  state.lock.unlock();
  if (!memory) return nullptr;
  allow(memory, slot);
  static_cast<FreeSlot*>(memory)->next = nullptr;  // all else is zero already: fresh, or zeroed when released
  return memory;
}

void Arena::release(void* object, size_t bytes) {
  if (!object) return;
  size_t slot = slot_bytes(bytes);
  memset(object, 0, slot);
  forbid(object, slot);
  auto* freed = static_cast<FreeSlot*>(object);
  state.lock.lock();
  FreeSlot*& list = state.free[class_of(slot)];
  freed->next = list;
  list = freed;
  state.lock.unlock();
}

}  // namespace weft::base
