// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Copies into memory that another process reads next, and read last: lines of it are in the caches of the other's
// processor. Where that is near (it shares a cache with ours) they are fetched from there at once, and the copy stays
// in the cache that both share. Where it is far each line is waited for, on its way to us and on its way back: stores
// that go past the caches took a third of the time (docs/performance-choices.md, "Near and far").
//
// How far it is shows in the time of a copy that fetches lines: some of the copies are timed. So it follows when the
// system moves processes to other processors, or a host moves a virtual machine's. It is found anew for each peer;
// wrong for a while, it costs time and nothing else. WEFT_CROSSING says it instead.

#include <atomic>
#include <cstddef>

namespace weft::transport::shm {

class Crossing {
 public:
  Crossing();

  // Smaller copies are the same near and far.
  static constexpr size_t least_bytes = 2048;

  // Thread-safe. A release store that follows publishes the bytes.
  void copy(void* to, const void* from, size_t bytes);

  // False when WEFT_CROSSING says how far the peer is.
  bool is_measured() const { return measured_; }
  bool near() const { return near_.load(std::memory_order_relaxed); }

  // The outcome of a timed copy. Some of one kind that follow each other decide.
  void note(double ns_of_kib, size_t bytes);

 private:
  bool is_timed() const;

  const bool measured_;
  std::atomic<bool> near_;
  std::atomic<int> against_{0};  // timed copies that said otherwise
};

}  // namespace weft::transport::shm
