// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/lock.hpp"

#include <sched.h>

#include <mutex>
#include <new>

#include "base/clock.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/progress/progress.hpp"
#include "core/progress/waiting.hpp"
#include "core/rma/outbox.hpp"
#include "core/rma/serve.hpp"

namespace weft::core::rma {

// A rank of another host that waits for our lock, or holds it.
struct LockWish {
  LockWish* next;
  int32_t origin;
  LockState kind;
  bool held;
  uint32_t lane;
  uint64_t cookie;
};

namespace {

// The word: the number of shared holders, a bit for an exclusive one, the number of waiters, and of those that want the
// lock alone.
constexpr uint64_t one_shared = 1;
constexpr uint64_t exclusive_bit = uint64_t{1} << 31;
constexpr uint64_t one_waiter = uint64_t{1} << 32;
constexpr uint64_t one_writer = uint64_t{1} << 48;
constexpr uint64_t holders = one_waiter - 1;

uint64_t share_of(LockState kind) {
  return kind == LockState::exclusive ? exclusive_bit : one_shared;
}

uint64_t waiter_of(LockState kind) {
  return kind == LockState::exclusive ? one_waiter + one_writer : one_waiter;
}

void begin_waiting(TargetControl& control, std::atomic<int32_t>& slot, int32_t rank, LockState kind) {
  slot.store(rank + 1, std::memory_order_seq_cst);
  control.lock.fetch_add(waiter_of(kind), std::memory_order_seq_cst);
}

void end_waiting(TargetControl& control, std::atomic<int32_t>& slot, LockState kind) {
  slot.store(0, std::memory_order_relaxed);
  control.lock.fetch_sub(waiter_of(kind), std::memory_order_seq_cst);
}

// Readers that come again and again would keep a writer out: the lock is never free. So a reader lets a writer that
// waits go first, for so long as holders take to give the lock back, but not for ever: a holder may wait for this very
// reader.
void give_way(const TargetControl& control) {
  constexpr uint64_t patience_ns = 1000000;
  const auto writer_waits = [&] { return control.lock.load(std::memory_order_relaxed) >= one_writer; };
  if (!writer_waits()) [[likely]]
    return;
  const uint64_t until = base::now_ns() + patience_ns;
  while (writer_waits() && base::now_ns() < until) {
    if (!progress()) sched_yield();
  }
}

}  // namespace

bool try_acquire(TargetControl& control, LockState kind) {
  uint64_t seen = control.lock.load(std::memory_order_seq_cst);
  const uint64_t in_the_way = kind == LockState::exclusive ? holders : exclusive_bit;
  while ((seen & in_the_way) == 0) {
    if (control.lock.compare_exchange_weak(seen, seen + share_of(kind), std::memory_order_seq_cst)) return true;
  }
  return false;
}

void acquire(Window& window, int32_t rank, LockState kind) {
  TargetControl& control = *window.targets[rank].control;
  if (kind == LockState::shared) give_way(control);
  if (try_acquire(control, kind)) return;
  std::atomic<int32_t>& slot = control.waiting[identity->place_here()];
  begin_waiting(control, slot, window.rank, kind);
  const WaitRecord wait_record{
      .kind = WaitKind::lock, .call = "MPI_Win_lock", .comm = window.comm, .target = window.comm->job_rank(rank)};
  const Doing doing(wait_record);
  bool got = false;  // a condition is asked again when it has held
  wait_until([&] { return got = got || try_acquire(control, kind); });
  end_waiting(control, slot, kind);
  if (kind != LockState::shared) return;
  nudge_next(window, rank);
  try_own_wishes(window, rank);
}

void release(Window& window, int32_t rank, LockState kind) {
  TargetControl& control = *window.targets[rank].control;
  const uint64_t before = control.lock.fetch_sub(share_of(kind), std::memory_order_seq_cst);
  if (before >= one_waiter && (before & holders) == share_of(kind)) nudge_next(window, rank);
}

// Ranks of the host in turn, beginning behind ourselves; the target, for those of other hosts, each time.
void nudge_next(Window& window, int32_t target) {
  TargetControl& control = *window.targets[target].control;
  if (control.lock.load(std::memory_order_seq_cst) < one_waiter) return;
  if (target != window.rank && control.owner_waits.load(std::memory_order_relaxed) != 0) {
    tell(window, target, Action::nudge);
  }
  const int32_t here = identity->places_here();
  for (int32_t i = 1; i <= here; ++i) {
    const int32_t rank = control.waiting[(identity->place_here() + i) % here].load(std::memory_order_relaxed) - 1;
    if (rank >= 0) return tell(window, rank, Action::nudge);
  }
}

void try_own_wishes(Window& window, int32_t target) {
  if (target != window.rank || window.control->owner_waits.load(std::memory_order_seq_cst) == 0) return;
  try_wishes(window);
}

namespace {

// Grants wishes in the order in which they came; one that has to wait keeps those behind it waiting. Their lock is
// held.
void grant_wishes(Window& window) {
  for (LockWish* wish = window.wishes; wish != nullptr; wish = wish->next) {
    if (wish->held) continue;
    TargetControl& control = *window.control;
    const bool waits = control.owner_waits.load(std::memory_order_relaxed) != 0;
    if (!try_acquire(control, wish->kind)) {
      if (!waits) begin_waiting(control, control.owner_waits, window.rank, wish->kind);
      if (!try_acquire(control, wish->kind)) return;
      end_waiting(control, control.owner_waits, wish->kind);
    } else if (waits) {
      end_waiting(control, control.owner_waits, wish->kind);  // this wish has waited: they are held in turn
    }
    wish->held = true;
    answer(window, wish->origin, wish->lane, wish->cookie);
  }
}

}  // namespace

void lock_for(Window& window, int32_t origin, LockState kind, uint32_t lane, uint64_t cookie) {
  auto* wish = new (std::nothrow) LockWish{nullptr, origin, kind, false, lane, cookie};
  if (wish == nullptr) {
    failed(FailureCause::memory,
           {.cause = "no memory to note who holds a window's lock", .remedy = "free memory on this host"});
  }
  const std::lock_guard guard(window.guard);
  LockWish** last = &window.wishes;
  while (*last != nullptr) last = &(*last)->next;
  *last = wish;
  grant_wishes(window);
}

void try_wishes(Window& window) {
  const std::lock_guard guard(window.guard);
  grant_wishes(window);
}

void unlock_for(Window& window, int32_t origin) {
  const std::lock_guard guard(window.guard);
  LockWish** at = &window.wishes;
  while (*at != nullptr && ((*at)->origin != origin || !(*at)->held)) at = &(*at)->next;
  LockWish* const wish = *at;
  if (wish == nullptr) return;
  *at = wish->next;
  release(window, window.rank, wish->kind);
  delete wish;
  grant_wishes(window);
}

}  // namespace weft::core::rma
