// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The number of holders of an object, which threads may take and give back at the same time.

#include <atomic>

namespace weft::base {

// Begins with one holder, the maker. A copy of an object has its own maker: holders are not copied.
class HolderCount {
 public:
  constexpr HolderCount() = default;
  constexpr HolderCount(const HolderCount&) {}
  constexpr HolderCount& operator=(const HolderCount&) { return *this; }
  ~HolderCount() = default;

  // The caller already has a reference, or holds the lock of the place where it found the object: nothing is ordered by
  // this.
  HolderCount& operator++() {
    count_.fetch_add(1, std::memory_order_relaxed);
    return *this;
  }
  // How many are left. With 0 the object is the caller's to destroy: all changes by other holders came before, as their
  // release here pairs with its acquire.
  [[nodiscard]] int operator--() { return count_.fetch_sub(1, std::memory_order_acq_rel) - 1; }
  [[nodiscard]] int now() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> count_ = 1;
};

// The handles of an object that the program has got and not freed. The library's own references are counted elsewhere:
// a program that frees copies of a handle ends none of them.
class HandleCount {
 public:
  constexpr explicit HandleCount(int begin) : count_(begin) {}
  constexpr HandleCount(const HandleCount&) : count_(0) {}
  constexpr HandleCount& operator=(const HandleCount&) { return *this; }
  ~HandleCount() = default;

  void add() { count_.fetch_add(1, std::memory_order_relaxed); }
  // False: the program has freed all of them.
  [[nodiscard]] bool remove() {
    int count = count_.load(std::memory_order_relaxed);
    while (count > 0 && !count_.compare_exchange_weak(count, count - 1, std::memory_order_relaxed)) {
    }
    return count > 0;
  }

 private:
  std::atomic<int> count_;
};

}  // namespace weft::base
