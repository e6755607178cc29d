// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/waiting.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <mutex>

#include "base/clock.hpp"
#include "base/setting.hpp"
#include "core/lane/lane.hpp"
#include "core/lane/progress_hooks.hpp"
#include "core/object/event.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/progress.hpp"
#include "core/progress/progress_thread_post.hpp"
#include "core/thread/thread.hpp"
#include "core/thread/waits.hpp"

namespace weft::core {

namespace {

constinit base::IntSetting spin{{.name = "WEFT_SPIN",
                                 .help = "polls of a waiting rank before it yields; -1: by ranks per core",
                                 .unit = base::Unit::count,
                                 .level = base::SettingLevel::basic,
                                 .subject = base::Subject::waiting,
                                 .change = base::Change::before_start},
                                -1,
                                {-1, 1000000000}};
WEFT_SETTING(spin);

constinit base::IntSetting yields{
    {.name = "WEFT_YIELDS",
     .help = "times a waiting rank yields the processor before it sleeps; -1: by ranks per core",
     .unit = base::Unit::count,
     .subject = base::Subject::waiting,
     .change = base::Change::before_start},
    -1,
    {-1, 1000000000}};
WEFT_SETTING(yields);

uint32_t rounds_of(const base::IntSetting& setting, uint32_t otherwise) {
  return setting.value() >= 0 ? static_cast<uint32_t>(setting.value()) : otherwise;
}

constexpr uint64_t while_ns = 250000000;  // a thread sleeps at once, after another one had the processor

void private_futex(int operation, std::atomic<uint32_t>& word, uint32_t value, const timespec* time) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, time, nullptr, 0);
}

uint64_t messages_taken() {
  uint64_t all = 0;
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) all += lanes->all[i].arrived.load(std::memory_order_relaxed);
  return all;
}

}  // namespace

void look_around(uint64_t now_ns) {
  constexpr uint64_t every_ns = 100000000;
  std::atomic<uint64_t>& looked_ns = waits->hosts_looked_at_ns;
  if (!peers->transports.watches() || now_ns - looked_ns.load(std::memory_order_relaxed) < every_ns) return;
  looked_ns.store(now_ns, std::memory_order_relaxed);
  peers->transports.look();
}

void wait_until_done(Request& request) {
  Backoff backoff(&request);
  auto ready = [&] { return is_done(request); };
  while (!ready()) {
    if (progress_for(request, backoff.rounds())) {
      backoff.something_happened();
    } else {
      backoff.pause(ready);
    }
  }
}

void Backoff::tune(int ranks_here, int cpus_here) {
  const bool crowded = ranks_here > cpus_here;
  waits->spin_rounds = rounds_of(spin, crowded ? 0 : 20000);
  waits->yield_rounds = rounds_of(yields, crowded ? 200 : 1000);
  waits->fences_own_threads =
      threads->concurrent && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void tune_for_threads(int live) {
  // A look at a lane takes the line of its lock and of its ring from the thread that is at it, so threads share the
  // looks. Where they share cores, a round may take a time slice.
  const bool apart = live <= identity->cpu_share;
  const uint32_t looking = apart ? std::bit_ceil(static_cast<uint32_t>(std::max(live, 1))) : 1;
  waits->others_every.store(8 * looking, std::memory_order_relaxed);
  if (apart) return;
  // With more ranks than processors there are no polls already. Elsewhere some: one of the threads may only have
  // started the others.
  const uint32_t now = waits->spin_rounds.load(std::memory_order_relaxed);
  if (spin.value() < 0 && now != 0) {
    waits->shared_polls.store(std::min(now, Patience::most), std::memory_order_relaxed);
    waits->spin_rounds.store(0, std::memory_order_relaxed);
  }
  waits->yield_rounds.store(rounds_of(yields, 200) + waits->shared_polls.load(std::memory_order_relaxed),
                            std::memory_order_relaxed);
}

void Backoff::relax() {
  base::cpu_relax();
}

// The round from which on it yields.
uint32_t Backoff::first_yield() {
  const uint32_t most = waits->shared_polls.load(std::memory_order_relaxed);
  if (most == 0 || service_) return waits->spin_rounds.load(std::memory_order_relaxed) + 1;
  Patience& patience = this_thread().patience;
  if (yields_from_ == 0) yields_from_ = std::min(patience.next(), most) + 1;
  if (rounds_ < yields_from_) patience.polled(rounds_);
  if (rounds_ == yields_from_) patience.yields();
  restart_ = std::min(rounds_, yields_from_);
  return yields_from_;
}

bool Backoff::lingered() {
  const uint32_t yields_from = first_yield();
  // Where cores are shared, some yields let a thread that runs on hand its core over.
  const uint32_t crowd = yields_from_ == 0 ? crowd_round : yields_from_ + 16;
  if (rounds_ == crowd && in_crowd()) {
    rounds_ = waits->all_rounds() + 1;
    return true;
  }
  if (rounds_ < yields_from) {
    relax();
  } else {
    yield();
  }
  return false;
}

// Ranks that wait as we do hand the processor on within microseconds. When it is mostly gone for longer, a thread that
// computes has it. A thread that goes on yielding then gets a few percent of the processor, but a sleeping one is let
// in as soon as there is news. Each thread counts for itself: the one that computes may be ours, and must not sleep for
// it. It tries again after a while, or when its sleeps have become short: other ranks that copied much data take as
// long.
void Backoff::yield() {
  constexpr uint64_t long_ns = 500000;
  constexpr uint64_t window_ns = 20000000;
  constexpr uint64_t short_window_ns = 5000000;  // of a trial
  Thread& thread = this_thread();
  const uint64_t from_ns = base::now_ns();
  if (from_ns < thread.sleep_until_ns) {
    rounds_ = std::max(rounds_, waits->all_rounds());
    return;
  }
  sched_yield();
  const uint64_t now_ns = base::now_ns();
  look_around(now_ns);
  if (now_ns - from_ns < long_ns) [[likely]]
    return;
  thread.gone_ns += now_ns - from_ns;
  const uint64_t window = now_ns - thread.gone_since_ns;
  const bool trial = thread.gone_since_ns == thread.tried_ns;
  if (window < (trial ? short_window_ns : window_ns)) return;
  if (thread.gone_ns > window / 4 * 3) thread.sleep_until_ns = now_ns + while_ns;
  thread.gone_since_ns = now_ns;
  thread.gone_ns = 0;
}

// When more threads wait than there are processors, those beyond sleep at once.
bool Backoff::in_crowd() {
  if (!threads->concurrent || counted_ || service_) return false;
  counted_ = true;
  return waits->awake.fetch_add(1, std::memory_order_relaxed) >= identity->cpu_share;
}

// Counts this thread among those that wait for memory, or no longer; under the lock, where there are several threads.
void Backoff::watch(bool on) const {
  if (news_ != News::memory || peers->transports.sleeper() == nullptr) return;
  if (on ? waits->watchers++ == 0 : --waits->watchers == 0) peers->transports.sleeper()->watch_memory(on);
}

void Backoff::prepare_sleep(Sleeper& me) {
  if (service_) {
    restart_ = soon_asleep();  // rounds become fewer when threads come
  } else {
    wait_record_.before_sleep(request_, base::now_ns());
  }
  slept_ = true;
  if (counted_) waits->awake.fetch_sub(1, std::memory_order_relaxed);
  counted_ = false;
  if (!threads->concurrent) {
    me.sentinel = true;
    watch(true);
    if (peers->transports.sleeper() != nullptr) peers->transports.sleeper()->arm();
    return;
  }
  {
    std::lock_guard guard(waits->lock);
    me.next = waits->first;
    waits->first = &me;
    if (request_ != nullptr) {
      std::atomic_ref(const_cast<bool&>(request_->slept_on)).store(true, std::memory_order_relaxed);
    } else if (!service_) {
      waits->any_sleepers.fetch_add(1, std::memory_order_relaxed);
    }
    if (!service_) waits->sleepers.fetch_add(1, std::memory_order_seq_cst);
    watch(true);
    // A thread that goes to sleep while the sentinel naps takes its place: a message must wake somebody.
    const bool vacant = waits->sentinel == nullptr || (waits->sentinel != this && waits->sentinel->nap_ns_ != 0);
    if (vacant && peers->transports.sleeper() != nullptr) waits->sentinel = this;
    if (waits->sentinel != this) nap_ns_ = 0;
    me.sentinel = waits->sentinel == this && nap_ns_ == 0;
    watched_ = waits->sentinel == this;
    just_before_ = before_sleep_ = now();
  }
  if (me.sentinel) {
    peers->transports.sleeper()->arm();
  }
  if (waits->fences_own_threads) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

// The last look before sleeping, by the thread that watches for messages.
bool Backoff::has_event(const Sleeper& me) {
  if (!me.sentinel) return false;
  if (service_ ? progress_of_service() : progress()) return true;
  if (!peers->transports.may_sleep()) return true;
  if (!threads->concurrent) return false;
  // A lane that another thread was at may have got a message after its last look.
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
    const Lane& lane = lanes->all[i];
    const bool quiet = lane.ring != nullptr ? lane.ring->empty() : peers->transports.sleeper()->looks_empty(i);
    if (!quiet || lane.lock.is_taken()) return true;
  }
  return false;
}

Backoff::Deeds Backoff::now() const {
  if (service_) return {0, messages_taken() - taken_};
  return {waits->wakes.load(std::memory_order_relaxed), waits->others_done.load(std::memory_order_relaxed)};
}

// Whether what happened was of use to sleeping threads, and not only to threads that are awake and poll for their own
// messages.
bool Backoff::helped(const Deeds& since) const {
  const Deeds done = now();
  return done.wakes != since.wakes || done.others_done == since.others_done;
}

// While messages come for threads that are awake, waking the sentinel for each of them costs those threads and the
// senders time. So the sentinel naps instead: it is not armed, and polls at the end of each nap, until a nap ends with
// something that helped a sleeper.
void Backoff::look_back() {
  constexpr uint64_t shortest = 50000;
  constexpr uint64_t longest = 250000;
  watched_ = false;
  std::lock_guard guard(waits->lock);
  if (waits->sentinel != this || helped(before_sleep_)) {
    nap_ns_ = 0;
  } else {
    nap_ns_ = nap_ns_ == 0 ? shortest : std::min(2 * nap_ns_, longest);
    rounds_ = waits->all_rounds();
  }
}

void Backoff::sleep(Sleeper& me) {
  Thread& thread = this_thread();
  count(thread.sleeps);
  tell_of(Event::sleep, {});
  const uint64_t from_ns = base::now_ns();
  {
    const IdleSleep idle;
    rest(me);
  }
  const uint64_t slept_ns = base::now_ns() - from_ns;
  look_around(from_ns + slept_ns);
  count(thread.slept_ns, slept_ns);
  constexpr uint64_t short_ns = 1000000;
  constexpr uint64_t trials_ns = 50000000;
  constexpr uint32_t enough = 16;
  thread.short_sleeps = slept_ns < short_ns ? thread.short_sleeps + 1 : 0;
  if (thread.short_sleeps >= enough && from_ns < thread.sleep_until_ns && from_ns - thread.tried_ns > trials_ns) {
    thread.tried_ns = thread.gone_since_ns = from_ns;
    thread.sleep_until_ns = thread.gone_ns = 0;
  }
  tell_of(Event::wake, {.amount = static_cast<int64_t>(slept_ns)});
}

void Backoff::rest(Sleeper& me) {
  using base::second;
  // Staging memory and space in a peer's ring become free without a message, so the thread looks again soon while
  // something waits for them. Without membarrier a wake-up may be missed, too.
  constexpr uint64_t soon = 1000000;
  bool look_soon = peers->queues_waiting.load(std::memory_order_relaxed) != 0 ||
                   // records that found the way full
                   gathering.load(std::memory_order_relaxed) > watching.load(std::memory_order_relaxed) ||
                   (threads->concurrent && !waits->fences_own_threads);
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
    look_soon |= lanes->all[i].at_work.load(std::memory_order_relaxed);
  }
  look_soon |= !peers->transports.all_sent();
  // The thread that is woken may be another one.
  look_soon |= news_ == News::memory || (news_ == News::told_memory && threads->concurrent);
  // A message from another host may have no way to wake the sentinel. (The other threads are woken by the thread that
  // completes their requests.) Then it looks again after a while. A look costs some microseconds for each lane: the
  // longer nothing has come and nothing waits to leave, the rarer the looks, so that a message is late by a sixteenth
  // of the time it was waited for.
  const uint64_t in_vain = look_soon ? 0 : rounds_ - std::min(rounds_, waits->all_rounds());
  const uint64_t unwoken_ns = 100000 * uint64_t{lanes->map.lanes()} * std::min<uint64_t>(1 + in_vain / 16, 10);
  const bool unwoken = me.sentinel && !peers->transports.wakes_all();
  const uint64_t longest = service_ ? second : wait_record_.longest_ns();
  const uint64_t time_ns = nap_ns_ != 0 ? nap_ns_ : unwoken ? unwoken_ns : look_soon ? soon : longest;
  if (me.sentinel && peers->transports.sleeper() != nullptr) return peers->transports.sleeper()->sleep(time_ns);
  // Alone in a job, with one thread at a time, nobody can wake us.
  const uint64_t shown_ns = threads->concurrent ? time_ns : soon;
  const timespec time{static_cast<time_t>(shown_ns / second), static_cast<long>(shown_ns % second)};
  private_futex(FUTEX_WAIT_PRIVATE, me.woken, 0, &time);
}

void Backoff::end_sleep(Sleeper& me) const {
  if (me.sentinel && peers->transports.sleeper() != nullptr) peers->transports.sleeper()->disarm();
  if (!threads->concurrent) return watch(false);
  std::lock_guard guard(waits->lock);
  watch(false);
  Sleeper** at = &waits->first;
  while (*at != &me) at = &(*at)->next;
  *at = me.next;
  if (service_) return;
  waits->sleepers.fetch_sub(1, std::memory_order_relaxed);
  if (me.request != nullptr) {
    std::atomic_ref(const_cast<bool&>(me.request->slept_on)).store(false, std::memory_order_relaxed);
  } else {
    waits->any_sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

// waits->lock is held, which keeps the sleeper where it is.
void Backoff::wake(Sleeper& sleeper) {
  waits->wakes.fetch_add(1, std::memory_order_relaxed);
  if (sleeper.sentinel) {
    peers->transports.sleeper()->wake();
  } else {
    sleeper.woken.store(1, std::memory_order_relaxed);
    private_futex(FUTEX_WAKE_PRIVATE, sleeper.woken, 1, nullptr);
  }
}

void wake_sleepers(const Request* request) {
  // The request may be its owner's again, but not while the owner sleeps on it.
  const bool slept_on =
      request != nullptr && std::atomic_ref(const_cast<bool&>(request->slept_on)).load(std::memory_order_relaxed);
  if (!slept_on) {
    if (request != nullptr) waits->others_done.fetch_add(1, std::memory_order_relaxed);
    if (waits->any_sleepers.load(std::memory_order_relaxed) == 0) return;
  }
  std::lock_guard guard(waits->lock);
  for (Sleeper* s = waits->first; s != nullptr; s = s->next) {
    if (!s->owner->service_ && (s->request == nullptr || s->request == request)) Backoff::wake(*s);
  }
}

void wake_service() {
  std::lock_guard guard(waits->lock);
  for (Sleeper* s = waits->first; s != nullptr; s = s->next) {
    if (s->owner->service_) Backoff::wake(*s);
  }
}

// A little more than none: the data of a rendezvous follow each other.
uint32_t Backoff::soon_asleep() {
  constexpr uint32_t rounds = 100;
  const uint32_t all = waits->all_rounds();
  return all - std::min(all, rounds);
}

bool Backoff::progress_of_service() {
  const uint64_t before = messages_taken();
  const bool moved = progress_with_thread();
  if (moved) taken_ += messages_taken() - before;
  return moved;
}

// A thread that leaves while it is its turn to watch for messages hands that on.
void Backoff::leave() {
  wait_record_.end();
  if (counted_) waits->awake.fetch_sub(1, std::memory_order_relaxed);
  if (!slept_ || !threads->concurrent) return;
  std::lock_guard guard(waits->lock);
  if (waits->sentinel != this) return;
  waits->sentinel = nullptr;
  if (waits->first == nullptr) return;
  waits->sentinel = waits->first->owner;
  wake(*waits->first);
}

}  // namespace weft::core
