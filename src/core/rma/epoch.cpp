// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/epoch.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/rma/global.hpp"
#include "core/rma/lock.hpp"
#include "core/rma/outbox.hpp"
#include "core/waiting.hpp"

namespace weft::core::rma {
namespace {

int32_t first_of(int32_t one, int32_t other) {
  return one != no_error ? one : other;
}

Record record_of(Action action, Awaited& awaited) {
  Record record{};
  record.action = action;
  record.cookie = cookie_of(awaited);
  return record;
}

Account account_of(WaitKind kind, const char* call, const Window& window, int32_t rank) {
  return {.kind = kind, .call = call, .comm = window.comm, .target = window.comm->job_rank(rank)};
}

// With `opening`.
void open_target(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  window.opened.push_back(rank);
  if (window.flavor != Flavor::dynamic && !takes_global_lock())
    target.direct.store(target.region.mapped, std::memory_order_release);
  target.open.store(true, std::memory_order_release);
}

void close_target(Target& target) {
  target.direct.store(nullptr, std::memory_order_relaxed);
  target.open.store(false, std::memory_order_relaxed);
}

void close_targets(Window& window) {
  std::lock_guard guard(window.opening);
  for (const int32_t rank : window.opened) close_target(window.targets[rank]);
  window.opened.clear();
}

// A fence may have begun an epoch that nobody has used: then it has not (MPI-5.0, 12.5.1).
bool leave_fence(Window& window) {
  if (window.epoch == Epoch::fence && window.opened.empty()) window.epoch = Epoch::none;
  return window.epoch == Epoch::none;
}

void get_lock(Window& window, int32_t rank, Lock kind) {
  Target& target = window.targets[rank];
  if (target.control != nullptr) {
    acquire(window, rank, kind);
  } else {
    Ticket ticket;
    ticket.expect();
    Record record = record_of(Action::lock, ticket);
    record.reduction = static_cast<uint8_t>(kind);
    outbox_of(window, rank).add(record, Leave::now);
    const Account account = account_of(WaitKind::lock, "MPI_Win_lock", window, rank);
    const Doing doing(account);
    (void)ticket.wait();
  }
  target.lock = kind;
  target.locked = true;
}

// Waits until what went to one target is done there, or, `local`, until what is to come back from it is here. Where an
// answer comes anyway behind the last of it, that will do; otherwise the target is asked for one.
class Flush : private Awaited {
 public:
  Flush() : Awaited(on_answer) {}

  void begin(Window& window, int32_t rank, bool local) {
    window_ = &window;
    rank_ = rank;
    target_ = &window.targets[rank];
    outbox_ = std::atomic_ref(target_->outbox).load(std::memory_order_acquire);
    if (outbox_ == nullptr) return;
    {
      std::lock_guard guard(outbox_->lock);
      upto_ = local ? outbox_->answered : outbox_->added;
      if (outbox_->settled.load(std::memory_order_acquire) >= upto_) return;
      asks_ = outbox_->answered != upto_;
      if (!asks_) outbox_->send();
    }
    if (asks_) outbox_->add(record_of(Action::flush, *this), Leave::now);
  }

  // An error class: of anything that failed there since this was last asked.
  int32_t end() {
    const auto over = [this] { return is_over(); };
    if (over()) {
      progress_at_times();
    } else {
      const Account account = account_of(WaitKind::flush, "the end of one-sided operations", *window_, rank_);
      const Doing doing(account);
      wait_until(over);
    }
    if (target_->failed.load(std::memory_order_relaxed) == no_error) return no_error;
    return target_->failed.exchange(no_error, std::memory_order_relaxed);
  }

 private:
  static bool on_answer(Awaited& awaited, const Answer& answer, const char* /*data*/) {
    auto& flush = static_cast<Flush&>(awaited);
    flush.outbox_->settle(flush.upto_);
    if (answer.error != no_error) flush.target_->failed.store(answer.error, std::memory_order_relaxed);
    flush.told_.store(true, std::memory_order_release);  // it may be gone now
    tell_sleepers(nullptr);
    return true;
  }

  bool is_over() const {
    if (target_->under_way.load(std::memory_order_acquire) != 0) return false;
    if (asks_) return told_.load(std::memory_order_acquire);
    return outbox_ == nullptr || outbox_->settled.load(std::memory_order_acquire) >= upto_;
  }

  Window* window_ = nullptr;
  int32_t rank_ = 0;
  Target* target_ = nullptr;
  Outbox* outbox_ = nullptr;
  uint64_t upto_ = 0;
  bool asks_ = false;
  std::atomic<bool> told_ = false;
};

int32_t settle(Window& window, int32_t rank, bool local = false) {
  Flush flush;
  flush.begin(window, rank, local);
  // Stores to memory that is mapped are in order; a copy may have used others.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return flush.end();
}

int32_t settle(Window& window, const std::vector<int32_t>& ranks, bool local = false) {
  std::vector<Flush> flushes(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) flushes[i].begin(window, ranks[i], local);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  int32_t error = no_error;
  for (Flush& flush : flushes) error = first_of(error, flush.end());
  return error;
}

std::vector<int32_t> opened_targets(Window& window) {
  std::lock_guard guard(window.opening);
  return window.opened;
}

int32_t settle_all(Window& window, bool local = false) {
  return settle(window, opened_targets(window), local);
}

// Whether its lock is given back by a message.
bool is_locked_afar(const Target& target) {
  return target.locked && target.control == nullptr;
}
// That message settles what went before, but for data that travel as messages of their own.
bool is_settled_by_unlock(const Target& target) {
  return is_locked_afar(target) && target.under_way.load(std::memory_order_relaxed) == 0;
}

// Gives locks back; of other hosts all at once. The others have been settled.
[[nodiscard]] int32_t give_back_locks(Window& window, const int32_t* ranks, size_t count) {
  Ticket ticket;
  for (size_t i = 0; i < count; ++i) {
    Target& target = window.targets[ranks[i]];
    const bool afar = is_locked_afar(target);
    const Lock kind = std::exchange(target.lock, Lock::none);
    if (!std::exchange(target.locked, false)) continue;
    if (!afar) {
      release(window, ranks[i], kind);
      try_own_wishes(window, ranks[i]);
    } else {
      ticket.expect();
      outbox_of(window, ranks[i]).add(record_of(Action::unlock, ticket), Leave::now);
    }
  }
  return ticket.wait();
}

}  // namespace

int32_t allow(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  if (target.open.load(std::memory_order_acquire)) [[likely]]
    return no_error;
  std::lock_guard guard(window.opening);
  if (target.open.load(std::memory_order_relaxed)) return no_error;
  switch (window.epoch) {
    case Epoch::fence:
      break;
    case Epoch::start:
      if (!target.in_group) return rma_sync;
      break;
    case Epoch::lock_all:
      if (window.checked) get_lock(window, rank, Lock::shared);
      break;
    default:
      return rma_sync;
  }
  open_target(window, rank);
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
    const Account account = account_of(WaitKind::exposure, "MPI_Win_start", window, rank);
    const Doing doing(account);
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
    const Account account = account_of(WaitKind::access, "MPI_Win_wait", window, open);
    const Doing doing(account);
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
int32_t lock(Window& window, int32_t rank, Lock kind, bool checked) {
  Target& target = window.targets[rank];
  {
    std::lock_guard guard(window.opening);
    if (window.epoch != Epoch::lock && !leave_fence(window)) return rma_sync;
    if (target.lock != Lock::none) return rma_sync;
    window.epoch = Epoch::lock;
    target.lock = kind;
    ++window.locks;
  }
  if (checked) get_lock(window, rank, kind);
  std::lock_guard guard(window.opening);
  open_target(window, rank);
  return no_error;
}

int32_t unlock(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  {
    std::lock_guard guard(window.opening);
    if (window.epoch != Epoch::lock || !target.open.load(std::memory_order_relaxed)) return rma_sync;
  }
  const int32_t error = is_settled_by_unlock(target) ? no_error : settle(window, rank);
  {
    std::lock_guard guard(window.opening);
    close_target(target);
    std::erase(window.opened, rank);
  }
  const int32_t later = give_back_locks(window, &rank, 1);
  std::lock_guard guard(window.opening);
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
  std::vector<int32_t> unsettled;
  for (const int32_t rank : opened) {
    if (!is_settled_by_unlock(window.targets[rank])) unsettled.push_back(rank);
  }
  const int32_t error = settle(window, unsettled);
  close_targets(window);
  const int32_t later = give_back_locks(window, opened.data(), opened.size());
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
  if (window.epoch == Epoch::lock && window.targets[rank].lock == Lock::none) return rma_sync;
  return settle(window, rank, local);
}

int32_t flush_all(Window& window, bool local) {
  return is_passive(window) ? settle_all(window, local) : rma_sync;
}

// Ranks of this host reach some of each other's memory without messages, which would come first.
int32_t order(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  if (target.control != nullptr || target.under_way.load(std::memory_order_acquire) != 0) return settle(window, rank);
  Outbox* const outbox = std::atomic_ref(target.outbox).load(std::memory_order_acquire);
  if (outbox == nullptr) return no_error;
  std::lock_guard guard(outbox->lock);
  outbox->send();
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
