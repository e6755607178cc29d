// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/epoch.hpp"

#include <algorithm>
#include <forward_list>
#include <mutex>
#include <span>
#include <utility>

#include "core/progress/lane_wait.hpp"
#include "core/rma/global.hpp"
#include "core/rma/lock.hpp"
#include "core/rma/outbox.hpp"

namespace weft::core::rma {
namespace {

int32_t first_of(int32_t one, int32_t other) {
  return one != no_error ? one : other;
}

// Makes a record for this box; `awaited` gets its answer.
Record record_of(Action action, Awaited& awaited, const LaneBox& box) {
  Record record{};
  record.action = action;
  record.cookie = cookie_of(awaited, box.lane);
  return record;
}

WaitRecord wait_record_of(WaitKind kind, const char* call, const Window& window, int32_t rank) {
  return {.kind = kind, .call = call, .comm = window.comm, .target = window.comm->job_rank(rank)};
}

// Targets that the epoch has opened are a list, to which threads add at the same time without a lock. The last call of
// the epoch takes them all out, MPI_Win_unlock one; then no thread adds any, as the program has to see to that.
void open_target(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  target.next_opened = window.opened.load(std::memory_order_relaxed);
  while (!window.opened.compare_exchange_weak(target.next_opened, rank + 1, std::memory_order_release,
                                              std::memory_order_relaxed)) {
  }
  if (window.flavor != Flavor::dynamic && target.region.reach == Reach::mapped && !takes_global_lock())
    target.direct.store(target.region.mapped, std::memory_order_release);
  target.open.store(true, std::memory_order_release);
}

void close_target(Target& target) {
  target.direct.store(nullptr, std::memory_order_relaxed);
  target.open.store(false, std::memory_order_relaxed);
  target.opening.store(false, std::memory_order_relaxed);
}

void close_targets(Window& window) {
  const std::lock_guard guard(window.closing);
  for (int32_t next = window.opened.load(std::memory_order_acquire); next != 0;) {
    Target& target = window.targets[next - 1];
    next = target.next_opened;
    close_target(target);
  }
  window.opened.store(0, std::memory_order_relaxed);
}

// With `closing`, in an epoch of MPI_Win_lock.
void take_out(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  close_target(target);
  int32_t before = window.opened.load(std::memory_order_relaxed);
  if (before == rank + 1) return window.opened.store(target.next_opened, std::memory_order_relaxed);
  while (window.targets[before - 1].next_opened != rank + 1) before = window.targets[before - 1].next_opened;
  window.targets[before - 1].next_opened = target.next_opened;
}

// A fence may have begun an epoch that nobody has used: then it has not (MPI-5.0, 12.5.1).
bool leave_fence(Window& window) {
  if (window.epoch == Epoch::fence && window.opened.load(std::memory_order_relaxed) == 0) window.epoch = Epoch::none;
  return window.epoch == Epoch::none;
}

void get_lock(Window& window, int32_t rank, LockState kind) {
  Target& target = window.targets[rank];
  if (target.control != nullptr) {
    acquire(window, rank, kind);
  } else {
    Ticket ticket;
    ticket.expect();
    LaneBox& box = box_of(window, rank);
    Record record = record_of(Action::lock, ticket, box);
    record.reduction = static_cast<uint8_t>(kind);
    box.add(record, Leave::now);
    const WaitRecord wait_record = wait_record_of(WaitKind::lock, "MPI_Win_lock", window, rank);
    const Doing doing(wait_record);
    (void)ticket.wait();
  }
  target.lock = kind;
  target.locked = true;
}

// Waits until the records of one box are done at the target, or, `local`, the data that they ask for are here. Where an
// answer comes anyway behind the last of them, that will do; otherwise the target is asked for one.
class Flush : private Awaited {
 public:
  // `own`: the calling thread's lane.
  Flush(LaneBox& box, int32_t rank, bool local, uint32_t own)
      : Awaited(on_answer), box_(box), target_(box.window.targets[rank]), rank_(rank), own_(own) {
    {
      const std::lock_guard guard(box_.lock);
      upto_ = (local ? box_.answered : box_.added).load(std::memory_order_relaxed);
      asks_ = box_.answered.load(std::memory_order_relaxed) < upto_;
    }
    if (asks_) {
      box_.add(record_of(Action::flush, *this, box_), Leave::now);
    } else {
      box_.send_all();
    }
  }

  bool is_over() const {
    if (asks_) return told_.load(std::memory_order_acquire);
    return box_.settled.load(std::memory_order_acquire) >= upto_;
  }
  // The lane to poll: our own for an answer that another thread asked for, which polls its lane.
  uint32_t lane() const { return asks_ ? box_.lane : own_; }
  int32_t rank() const { return rank_; }

 private:
  // The error is there before anybody finds that the records are done: other flushes may wait for this answer too.
  static bool on_answer(Awaited& awaited, const Answer& answer, const char* /*data*/) {
    auto& flush = static_cast<Flush&>(awaited);
    if (answer.error != no_error) {
      flush.target_.failed.store(answer.error, std::memory_order_relaxed);
    }
    flush.box_.settle(flush.number);
    flush.told_.store(true, std::memory_order_release);  // it may be gone now
    tell_sleepers(nullptr);
    return true;
  }

  LaneBox& box_;
  Target& target_;
  int32_t rank_;
  uint32_t own_;
  uint64_t upto_ = 0;
  bool asks_ = false;
  std::atomic<bool> told_ = false;
};

template <class Over>
void wait_for(const Window& window, int32_t rank, uint32_t lane, Over&& over) {
  const WaitRecord wait_record = wait_record_of(WaitKind::flush, "the end of one-sided operations", window, rank);
  const Doing doing(wait_record);
  wait_on(lane, over);
}

// Waits until what went to some targets is done there, by whichever lanes, or `local`, as above.
class Settlement {
 public:
  Settlement(Window& window, bool local) : window_(window), local_(local) {}

  // `but`: a box whose records are completed otherwise. Our own lane is waited for first: two threads that flush would
  // otherwise poll the same lane and wait for its lock, while nobody polls the other one.
  void begin(int32_t rank, const LaneBox* but = nullptr) {
    const Outbox* const all = known_outbox(window_.targets[rank]);
    if (all == nullptr) return;
    const uint32_t own = all->own_lane();
    for (uint32_t i = all->mask + 1; i-- > 0;) {
      LaneBox* const box = all->find((own + i) & all->mask);
      if (box == nullptr || box == but) continue;
      const uint64_t upto = (local_ ? box->answered : box->added).load(std::memory_order_relaxed);
      if (box->settled.load(std::memory_order_acquire) < upto) begun_.emplace_front(*box, rank, local_, own);
    }
  }

  void wait() {
    // Stores to memory that is mapped are in order; a copy may have used others.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (Flush& flush : begun_) {
      const auto over = [&] { return flush.is_over(); };
      if (over()) continue;
      wait_for(window_, flush.rank(), flush.lane(), over);
      waited_ = true;
    }
  }

  // An error class: of anything that failed there since it was last asked for.
  int32_t end(int32_t rank) {
    Target& target = window_.targets[rank];
    const auto over = [&] { return target.under_way.load(std::memory_order_acquire) == 0; };
    if (!over()) {
      wait_for(window_, rank, transport::max_lanes, over);
      waited_ = true;
    }
    if (target.failed.load(std::memory_order_relaxed) == no_error) return no_error;
    return target.failed.exchange(no_error, std::memory_order_relaxed);
  }

  // Where nothing had to be waited for: now and then.
  void make_progress() const {
    if (!waited_) progress_at_times();
  }

 private:
  Window& window_;
  bool local_;
  bool waited_ = false;
  std::forward_list<Flush> begun_;
};

// No record and no message went there that is not known to be done: stores to memory that is mapped are in order.
bool is_quiet(const Target& target) {
  return known_outbox(target) == nullptr && target.under_way.load(std::memory_order_acquire) == 0 &&
         target.failed.load(std::memory_order_relaxed) == no_error;
}

int32_t settle(Window& window, int32_t rank, bool local) {
  if (is_quiet(window.targets[rank])) [[likely]] {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // a copy may have used other stores
    progress_at_times();
    return no_error;
  }
  Settlement settlement(window, local);
  settlement.begin(rank);
  settlement.wait();
  const int32_t error = settlement.end(rank);
  settlement.make_progress();
  return error;
}

int32_t settle(Window& window, const std::vector<int32_t>& ranks) {
  Settlement settlement(window, false);
  for (const int32_t rank : ranks) settlement.begin(rank);
  settlement.wait();
  int32_t error = no_error;
  for (const int32_t rank : ranks) error = first_of(error, settlement.end(rank));
  settlement.make_progress();
  return error;
}

std::vector<int32_t> opened_targets(const Window& window) {
  std::vector<int32_t> ranks;
  for (int32_t next = window.opened.load(std::memory_order_acquire); next != 0;) {
    ranks.push_back(next - 1);
    next = window.targets[next - 1].next_opened;
  }
  return ranks;
}

// Completes all operations at the end of an epoch.
int32_t settle_all(Window& window) {
  return settle(window, opened_targets(window));
}

// Whether the target's lock is given back by a message.
bool is_locked_afar(const Target& target) {
  return target.locked && target.control == nullptr;
}

// The box by which the lock of another host is given back: that message completes what went before it there. So it
// is the one that has something to complete.
LaneBox& closing_box(Window& window, int32_t rank) {
  Outbox& all = outbox_of(window, rank);
  for (uint32_t lane = 0; lane <= all.mask; ++lane) {
    LaneBox* const box = all.find(lane);
    if (box != nullptr && !box->is_settled()) return *box;
  }
  return all.at(all.own_lane());
}

// Completes the operations of targets that are unlocked next, except those that the unlock itself completes.
int32_t settle_before_unlock(Window& window, std::span<const int32_t> ranks) {
  Settlement settlement(window, false);
  for (const int32_t rank : ranks) {
    const bool afar = is_locked_afar(window.targets[rank]);
    settlement.begin(rank, afar ? &closing_box(window, rank) : nullptr);
  }
  settlement.wait();
  int32_t error = no_error;
  for (const int32_t rank : ranks) error = first_of(error, settlement.end(rank));
  settlement.make_progress();
  return error;
}

// Gives locks back; of other hosts all at once, by messages that settle what is left.
[[nodiscard]] int32_t give_back_locks(Window& window, std::span<const int32_t> ranks) {
  Ticket ticket;
  std::vector<std::pair<LaneBox*, uint64_t>> asked;
  for (const int32_t rank : ranks) {
    Target& target = window.targets[rank];
    const bool afar = is_locked_afar(target);
    const LockState kind = std::exchange(target.lock, LockState::none);
    if (!std::exchange(target.locked, false)) continue;
    if (!afar) {
      release(window, rank, kind);
      try_own_wishes(window, rank);
    } else {
      LaneBox& box = closing_box(window, rank);
      asked.emplace_back(&box, box.added.load(std::memory_order_relaxed));
      ticket.expect();
      box.add(record_of(Action::unlock, ticket, box), Leave::now);
    }
  }
  const int32_t error = ticket.wait();
  for (const auto& [box, number] : asked) box->settle(number);
  return error;
}

}  // namespace

int32_t allow(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  if (target.open.load(std::memory_order_acquire)) [[likely]]
    return no_error;
  switch (window.epoch) {
    case Epoch::fence:
    case Epoch::lock_all:
      break;
    case Epoch::start:
      if (target.in_group) break;
      return rma_sync;
    default:
      return rma_sync;
  }
  // One thread opens a target; others that need it wait. Threads that need other targets do not: the target's lock may
  // be with a rank that gives it back only after it has heard from one of these.
  if (target.opening.exchange(true, std::memory_order_acq_rel)) {
    const WaitRecord wait_record = wait_record_of(WaitKind::lock, "MPI_Win_lock", window, rank);
    const Doing doing(wait_record);
    wait_until([&] { return target.open.load(std::memory_order_acquire); });
    return no_error;
  }
  if (window.epoch == Epoch::lock_all && window.checked) get_lock(window, rank, LockState::shared);
  open_target(window, rank);
  tell_sleepers(nullptr);
  return no_error;
}

int32_t end_fence(Window& window) {
  if (window.epoch != Epoch::none && window.epoch != Epoch::fence) return rma_sync;
  if (window.exposed) return rma_sync;
  const int32_t error = settle_all(window);
  close_targets(window);
  return error;
}

void begin_fence(Window& window, bool succeed) {
  window.epoch = succeed ? Epoch::fence : Epoch::none;
}

int32_t start(Window& window, std::vector<int32_t> ranks, bool checked) {
  if (!leave_fence(window)) return rma_sync;
  window.epoch = Epoch::start;
  window.group = std::move(ranks);
  for (const int32_t rank : window.group) {
    Target& target = window.targets[rank];
    target.in_group = true;
    if (!checked) continue;
    const WaitRecord wait_record = wait_record_of(WaitKind::exposure, "MPI_Win_start", window, rank);
    const Doing doing(wait_record);
    wait_until([&] { return target.posts.load(std::memory_order_acquire) != 0; });
    target.posts.fetch_sub(1, std::memory_order_relaxed);
  }
  return no_error;
}

int32_t complete(Window& window) {
  if (window.epoch != Epoch::start) return rma_sync;
  const int32_t error = settle_all(window);
  close_targets(window);
  for (const int32_t rank : window.group) {
    window.targets[rank].in_group = false;
    tell(window, rank, Action::complete);
  }
  window.group.clear();
  window.epoch = Epoch::none;
  return error;
}

int32_t post(Window& window, std::vector<int32_t> ranks, bool checked) {
  if (window.exposed) return rma_sync;
  (void)leave_fence(window);
  window.exposed = true;
  window.exposed_to = std::move(ranks);
  for (const int32_t rank : window.exposed_to) {
    if (checked) tell(window, rank, Action::post);
  }
  return no_error;
}

namespace {

// The first rank that has not completed its accesses; -1: all have.
int32_t first_open(const Window& window) {
  const auto open = std::find_if(window.exposed_to.begin(), window.exposed_to.end(), [&](int32_t rank) {
    return window.targets[rank].completes.load(std::memory_order_acquire) == 0;
  });
  return open == window.exposed_to.end() ? -1 : *open;
}

bool all_complete(const Window& window) {
  return first_open(window) < 0;
}

void end_exposure(Window& window) {
  for (const int32_t rank : window.exposed_to) {
    window.targets[rank].completes.fetch_sub(1, std::memory_order_relaxed);
  }
  window.exposed_to.clear();
  window.exposed = false;
}

}  // namespace

int32_t wait(Window& window) {
  if (!window.exposed) return rma_sync;
  for (int32_t open = 0; (open = first_open(window)) >= 0;) {
    const WaitRecord wait_record = wait_record_of(WaitKind::access, "MPI_Win_wait", window, open);
    const Doing doing(wait_record);
    wait_until([&] { return first_open(window) != open; });
  }
  end_exposure(window);
  return no_error;
}

int32_t test(Window& window, bool& flag) {
  if (!window.exposed) return rma_sync;
  flag = all_complete(window) || (progress() && all_complete(window));
  if (flag) end_exposure(window);
  return no_error;
}

// Threads may lock different targets of a window at the same time.
int32_t lock(Window& window, int32_t rank, LockState kind, bool checked) {
  Target& target = window.targets[rank];
  {
    const std::lock_guard guard(window.closing);
    if (window.epoch != Epoch::lock && !leave_fence(window)) return rma_sync;
    if (target.lock != LockState::none) return rma_sync;
    window.epoch = Epoch::lock;
    target.lock = kind;
    ++window.locks;
  }
  if (checked) get_lock(window, rank, kind);
  const std::lock_guard guard(window.closing);
  open_target(window, rank);
  return no_error;
}

int32_t unlock(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  {
    const std::lock_guard guard(window.closing);
    if (window.epoch != Epoch::lock || !target.open.load(std::memory_order_relaxed)) return rma_sync;
  }
  const std::span<const int32_t> ranks(&rank, 1);
  const int32_t error = settle_before_unlock(window, ranks);
  {
    const std::lock_guard guard(window.closing);
    take_out(window, rank);
  }
  const int32_t later = give_back_locks(window, ranks);
  const std::lock_guard guard(window.closing);
  if (--window.locks == 0) window.epoch = Epoch::none;
  return first_of(error, later);
}

int32_t lock_all(Window& window, bool checked) {
  if (!leave_fence(window)) return rma_sync;
  window.epoch = Epoch::lock_all;
  window.checked = checked;
  return no_error;
}

int32_t unlock_all(Window& window) {
  if (window.epoch != Epoch::lock_all) return rma_sync;
  const std::vector<int32_t> opened = opened_targets(window);
  const int32_t error = settle_before_unlock(window, opened);
  close_targets(window);
  const int32_t later = give_back_locks(window, opened);
  window.epoch = Epoch::none;
  return first_of(error, later);
}

namespace {

bool is_passive(const Window& window) {
  return window.epoch == Epoch::lock || window.epoch == Epoch::lock_all;
}

}  // namespace

int32_t flush(Window& window, int32_t rank, bool local) {
  if (!is_passive(window)) return rma_sync;
  if (window.epoch == Epoch::lock && window.targets[rank].lock == LockState::none) return rma_sync;
  return settle(window, rank, local);
}

int32_t flush_all(Window& window, bool local) {
  if (!is_passive(window)) return rma_sync;
  // Targets that no message went to have nothing to wait for. The others are found without a lock of the window.
  Settlement settlement(window, local);
  for (const Outbox* outbox = last_outbox(window); outbox != nullptr; outbox = outbox->made_before) {
    settlement.begin(outbox->rank);
  }
  settlement.wait();
  int32_t error = no_error;
  for (const Outbox* outbox = last_outbox(window); outbox != nullptr; outbox = outbox->made_before) {
    error = first_of(error, settlement.end(outbox->rank));
  }
  settlement.make_progress();
  return error;
}

// Ranks of this host reach some of each other's memory without messages, which would come first; and messages of
// several lanes have no order.
int32_t order(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  const Outbox* const outbox = known_outbox(target);
  const bool by_several_ways = target.control != nullptr || target.under_way.load(std::memory_order_acquire) != 0 ||
                               (outbox != nullptr && outbox->mask != 0);
  if (by_several_ways) return settle(window, rank, false);
  LaneBox* const box = outbox != nullptr ? outbox->find(0) : nullptr;
  if (box != nullptr) box->send_all();
  return no_error;
}

int32_t order_all(Window& window) {
  int32_t error = no_error;
  for (const int32_t rank : opened_targets(window)) error = first_of(error, order(window, rank));
  return error;
}

// The memory of a window is one for all who reach it.
int32_t sync(Window& /*window*/) {
  progress_at_times();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return no_error;
}

bool at_rest(const Window& window) {
  return !window.exposed && (window.epoch == Epoch::none || window.epoch == Epoch::fence);
}

}  // namespace weft::core::rma
