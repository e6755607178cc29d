// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A lock of one word: a compare-and-swap to take it, an exchange to give it back. A thread that does not get it spins
// for a moment, then sleeps in a futex. Works with std::lock_guard.

#include <atomic>
#include <cstdint>

namespace weft::base {

class Lock {
 public:
  constexpr Lock() = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  bool try_lock() {
    uint32_t expected = free;
    return word_.compare_exchange_strong(expected, taken, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void lock() {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  void unlock() {
    if (word_.exchange(free, std::memory_order_release) == wanted) [[unlikely]]
      (void)wake();
  }
  // Does what unlock() does, as the last call in a function; returns 0.
  int unlock_or_wake() { return word_.exchange(free, std::memory_order_release) == wanted ? wake() : 0; }
  bool is_taken() const { return word_.load(std::memory_order_relaxed) != free; }
  // Whether somebody sleeps for it: a holder with a long job may give it back early.
  bool is_wanted() const { return word_.load(std::memory_order_relaxed) == wanted; }

 private:
  static constexpr uint32_t free = 0;
  static constexpr uint32_t taken = 1;
  static constexpr uint32_t wanted = 2;  // taken, and somebody may sleep for it

  [[gnu::cold, gnu::noinline]] void wait();
  [[gnu::cold, gnu::noinline]] int wake();

  std::atomic<uint32_t> word_{free};
};

// Holds a lock if several threads may call, and does nothing otherwise: a lock is expensive on the path of a small
// message.
class LockIf {
 public:
  LockIf(Lock& lock, bool threads) : lock_(threads ? &lock : nullptr) {
    if (lock_ != nullptr) lock_->lock();
  }
  ~LockIf() {
    if (lock_ != nullptr) lock_->unlock();
  }
  LockIf(const LockIf&) = delete;
  LockIf& operator=(const LockIf&) = delete;

 private:
  Lock* const lock_;
};

}  // namespace weft::base
