// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Locks of windows (MPI-5.0, 12.5.3): a word for each target, in memory that the ranks of its host share. Ranks of
// other hosts ask the target itself.
//
// A rank that does not get the lock notes its number in TargetControl::waiting and counts itself in the word, then
// tries again, and sleeps as in any other wait. A rank that releases the lock and finds a waiter counted wakes one,
// which tries again; a rank that gets a shared lock while others wait wakes the next. A wake-up that finds the lock
// taken by a third is not lost: that one will find the waiter counted. Ordering: the count is added, and the lock given
// back, by sequentially consistent operations on the same word, so either the waiter's last try finds the lock free or
// its holder finds the waiter.

#include "core/rma/window.hpp"
#include "core/thread/thread.hpp"

namespace weft::core::rma {

// A lock keeps all other processes away from the target's memory, and there is no other thread.
inline bool is_alone(const Target& target) {
  return !threads->concurrent && target.lock == LockState::exclusive && target.locked;
}

// Locks the target, which is on this host; makes progress meanwhile.
void acquire(Window& window, int32_t rank, LockState kind);
// Gives back what acquire() got, or try_acquire() for somebody else.
void release(Window& window, int32_t rank, LockState kind);
[[nodiscard]] bool try_acquire(TargetControl& control, LockState kind);

// Wakes one of the ranks that wait for a lock of `target` that has come free, and the target. try_own_wishes() serves
// the locks that we hold for ranks of other hosts.
void nudge_next(Window& window, int32_t target);
void try_own_wishes(Window& window, int32_t target);

// ---- what a target does for ranks of other hosts; with a lane held

// Locks our part for `origin`, now or when it comes free; then the answer goes, to the lane that asked.
void lock_for(Window& window, int32_t origin, LockState kind, uint32_t lane, uint64_t cookie);
void unlock_for(Window& window, int32_t origin);
// Somebody has given our lock back.
void try_wishes(Window& window);

}  // namespace weft::core::rma
