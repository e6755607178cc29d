// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Stamps let a receiver merge the messages of one sender that took different lanes. If one send happens before another
// to the same rank on the same communicator, in one thread or across threads that synchronised, its stamp is smaller.
// docs/design/matching.md has the argument.

#include <atomic>
#include <cstdint>

namespace weft::core {

struct Thread;
extern Thread no_thread;
extern Thread several_threads;

// The clock of all processors: a later read, in one thread or after a synchronisation, gives more. nullptr: none is
// trusted.
extern uint64_t (*stamp_clock)();

// Makes the stamps of the messages of one communicator to one peer. `Atomic` is std::atomic except in tests.
template <template <class> class Atomic = std::atomic>
class StampSlot {
 public:
  uint64_t next(Thread& me) { return belongs_to(&me) ? next_own() : next_shared(me, stamp_clock); }

  // The two steps of a thread that owns the slot.
  bool belongs_to(const Thread* me) const { return owner_.load(std::memory_order_acquire) == me; }
  uint64_t next_own() { return ++count_; }

  // The step of a thread that does not own the slot.
  [[gnu::noinline]] uint64_t next_shared(Thread& me, uint64_t (*clock)()) {
    if (clock == nullptr) return common_.fetch_add(1, std::memory_order_acq_rel) + 1;
    // Once several threads send, the slot is only read, so that they share its line: a compare-and-swap takes the line
    // from the others even when it fails.
    Thread* owner = owner_.load(std::memory_order_acquire);
    if (owner == &no_thread && owner_.compare_exchange_strong(owner, &me, std::memory_order_acq_rel))
      return count_ = clock();
    if (owner != &several_threads) owner_.store(&several_threads, std::memory_order_release);
    return clock();
  }

  // 1, 2, 3 and so on, of all threads: instead of stamps, to a peer that counts (core/lane/sequence_numbers.hpp).
  uint64_t next_number() { return common_.fetch_add(1, std::memory_order_acq_rel) + 1; }

 private:
  alignas(64) Atomic<Thread*> owner_{&no_thread};  // so far; several_threads once two have sent
  uint64_t count_ = 0;                             // the owner's
  Atomic<uint64_t> common_{0};                     // without a clock, and of numbers
};

// The slots of the messages to one peer, by communicator; communicators that share a slot are only slower.
class Stamps {
 public:
  static constexpr uint32_t count = 16;
  static uint32_t place_of(uint32_t context) { return (context >> 1) % count; }
  StampSlot<>& slot(uint32_t context) { return slots_[place_of(context)]; }

 private:
  StampSlot<> slots_[count];
};

// The stamp of a message to ourselves, taken when it is kept.
uint64_t own_stamp();

// Chooses the clock; by start().
void open_stamps();

}  // namespace weft::core
