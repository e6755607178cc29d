// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Work that sender and receiver of one message share: both take chunks of it until none is left. Lies where both reach
// it. `Atomic` is std::atomic but in tests.

#include <atomic>
#include <cstdint>

namespace weft::transport {

template <template <class> class Atomic>
class alignas(64) ClaimOf {
 public:
  // The receiver's, while no transfer uses the slot: a new one begins. Returns its generation.
  uint32_t begin() {
    const auto generation = static_cast<uint32_t>(next_.load(std::memory_order_relaxed) >> 32) + 1;
    done_.store(0, std::memory_order_relaxed);
    next_.store(uint64_t{generation} << 32, std::memory_order_release);
    return generation;
  }
  // The receiver's: nobody can take a chunk of it any more.
  void end(uint32_t generation) { next_.store(uint64_t{generation + 1} << 32 | UINT32_MAX, std::memory_order_release); }

  // The next of `chunks` that nobody has taken; false when there is none, or the transfer is over.
  bool take(uint32_t generation, uint32_t chunks, uint32_t* i) {
    uint64_t next = next_.load(std::memory_order_acquire);
    do {
      *i = static_cast<uint32_t>(next);
      if (next >> 32 != generation || *i >= chunks) return false;
    } while (!next_.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel));
    return true;
  }
  // All of them, where nobody has taken any.
  bool take_all(uint32_t generation, uint32_t chunks) {
    uint64_t none = uint64_t{generation} << 32;
    return next_.compare_exchange_strong(none, none + chunks, std::memory_order_acq_rel);
  }
  // Says that a chunk is copied; whether it was the last. Release and acquire: the last one speaks for all.
  bool put_down(uint32_t chunks) { return done_.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks; }

 private:
  Atomic<uint64_t> next_;  // generation << 32 | the next chunk nobody has taken
  Atomic<uint32_t> done_;  // chunks copied
};

using Claim = ClaimOf<std::atomic>;
inline constexpr int claim_slots = 32;  // per rank

}  // namespace weft::transport
