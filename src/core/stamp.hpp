// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Stamps let a receiver merge the messages of one sender that took different lanes. If one send happens before another
// to the same rank on the same communicator, in one thread or across threads that synchronised, its stamp is smaller.
// docs/matching.md has the argument.

#include <atomic>
#include <cstdint>

namespace weft::core {

struct Thread;
extern Thread no_thread;
extern Thread several_threads;

class StampSlot {
 public:
  uint64_t next(Thread& me) { return belongs_to(&me) ? next_own() : next_shared(me); }

  // The two steps of a thread that owns the slot.
  bool belongs_to(const Thread* me) const { return owner_.load(std::memory_order_acquire) == me; }
  uint64_t next_own() { return ++count_; }

 private:
  uint64_t next_shared(Thread& me);

  alignas(64) std::atomic<Thread*> owner_ = &no_thread;  // so far; several_threads once two have sent
  uint64_t count_ = 0;                                   // the owner's
  std::atomic<uint64_t> common_ = 0;                     // where the processor's clock is not trusted
};

// Of the messages to one peer, by communicator; those that share a slot are only slower.
class Stamps {
 public:
  StampSlot& slot(uint32_t context) { return slots_[(context >> 1) % count]; }

 private:
  static constexpr uint32_t count = 16;
  StampSlot slots_[count];
};

// The stamp of a message to ourselves, taken when it is kept.
uint64_t own_stamp();

// Chooses the clock; by start().
void open_stamps();

}  // namespace weft::core
