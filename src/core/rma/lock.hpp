// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Locks of windows (MPI-5.0, 12.5.3): a word for each target, in memory that the ranks of its host share. Ranks of
// other hosts ask the target itself.
//
// Who does not get the lock notes its rank in Control::waiting and counts itself in the word, then tries again, and
// sleeps as in any other wait. Who gives the lock back and finds somebody counted sends one of those a nudge, after
// which that one tries again; who gets a shared lock while others wait passes the nudge on. A nudge that finds the lock
// taken by a third is not lost: that one will find the waiter counted.
// Ordering: the count is added, and the lock given back, by sequentially consistent operations on the same word, so
// either the waiter's last try finds the lock free or its holder finds the waiter.

#include "core/rma/window.hpp"

namespace weft::core::rma {

// Locks the target, which is on this host; makes progress meanwhile.
void acquire(Window& window, int32_t rank, Lock kind);
// Gives back what acquire() got, or try_acquire() for somebody else.
void release(Window& window, int32_t rank, Lock kind);
[[nodiscard]] bool try_acquire(Control& control, Lock kind);

// Of those who wait for a lock of `target` that has come free: tells one, and the target. What we hold for ranks of
// other hosts ourselves is looked after by try_own_wishes(), with no lane held.
void nudge_next(Window& window, int32_t target);
void try_own_wishes(Window& window, int32_t target);

// ---- what a target does for ranks of other hosts; with lane 0 held

// Locks our part for `origin`, now or when it comes free; then the answer goes.
void lock_for(Window& window, int32_t origin, Lock kind, uint64_t cookie);
void unlock_for(Window& window, int32_t origin);
// Somebody has given our lock back.
void try_wishes(Window& window);

}  // namespace weft::core::rma
