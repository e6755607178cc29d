// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Stamps: what lets a receiver merge the messages of one sender that took different lanes. If one send happens before
// another to the same rank on the same communicator, in one thread or across threads that synchronised, its stamp is
// smaller. docs/matching.md has the argument.

#include <atomic>
#include <cstdint>

namespace weft::core {

struct Thread;

class StampSlot {
 public:
  uint64_t next(Thread& me) {
    if (owner_.load(std::memory_order_acquire) == &me) [[likely]]
      return ++count_;
    return next_shared(me);
  }

 private:
  uint64_t next_shared(Thread& me);

  alignas(64) std::atomic<Thread*> owner_ = nullptr;  // nullptr: nobody has sent; shared_owner(): two threads have
  uint64_t count_ = 0;                                // the owner's
  std::atomic<uint64_t> common_ = 0;                  // where the processor's clock is not trusted
};

inline constexpr uint32_t stamp_slots = 256;
extern StampSlot stamps[stamp_slots];

// The stamp of a message on a communicator to a rank of it.
inline uint64_t next_stamp(Thread& me, uint32_t context, int32_t dest) {
  return stamps[((context >> 1) * 61 + static_cast<uint32_t>(dest)) % stamp_slots].next(me);
}

// The stamp of a message to ourselves, taken when it is kept.
uint64_t own_stamp();

// Chooses the clock; by start().
void open_stamps();

}  // namespace weft::core
