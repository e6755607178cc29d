// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which staging buffers of a rank are free. Each has a word in shared memory that counts its releases. Receivers write
// it, the owner reads it alone and remembers what it has seen, so the line of the words moves between the processors
// once for all the buffers on it, not for each chunk.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace weft::transport::shm {

class StagingPool {
 public:
  // `released`: the words, aligned to a cache line.
  void open(const std::atomic<uint32_t>* released, int count) {
    released_ = released;
    seen_.resize(static_cast<size_t>(count));
    lent_.resize(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) seen_[static_cast<size_t>(i)] = released[i].load(std::memory_order_relaxed);
  }

  // Buffers that have memory and can be lent.
  int ready() const { return ready_; }
  void set_ready(int count) { ready_ = count; }

  // The first of `need` free buffers in a row, which are lent from now on; -1: there are none that are ready.
  int lend(int need) {
    const int count = ready_;
    if (need > count) return -1;
    for (int tried = 0, at = next_; tried < count; ++tried, ++at) {
      if (at + need > count) at = 0;
      int run = 0;
      while (run < need && is_free(at + run)) ++run;
      if (run < need) continue;
      for (int i = at; i < at + need; ++i) lent_[static_cast<size_t>(i)] = true;
      next_ = at + need < count ? at + need : 0;
      return at;
    }
    return -1;
  }

  // They have not been sent after all.
  void take_back(int first, int count) {
    for (int i = first; i < first + count; ++i) lent_[static_cast<size_t>(i)] = false;
  }

  // By the receiver, when it has read the buffer; the store pairs with the owner's acquire load.
  static void release(std::atomic<uint32_t>& word) {
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  static constexpr int words_of_line = 64 / sizeof(uint32_t);

  bool is_free(int i) {
    if (lent_[static_cast<size_t>(i)]) look(i - i % words_of_line);
    return !lent_[static_cast<size_t>(i)];
  }

  void look(int first) {
    const int end = std::min(first + words_of_line, static_cast<int>(lent_.size()));
    for (int i = first; i < end; ++i) {
      const auto at = static_cast<size_t>(i);
      const uint32_t now = released_[i].load(std::memory_order_acquire);
      if (now == seen_[at]) continue;
      seen_[at] = now;
      lent_[at] = false;
    }
  }

  const std::atomic<uint32_t>* released_ = nullptr;
  std::vector<uint32_t> seen_;  // releases
  std::vector<uint8_t> lent_;
  int ready_ = 0;
  int next_ = 0;
};

}  // namespace weft::transport::shm
