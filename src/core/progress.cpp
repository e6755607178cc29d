// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <mutex>

#include "base/clock.hpp"
#include "base/setting.hpp"
#include "core/event.hpp"
#include "core/protocol/protocol.hpp"
#include "core/rma/window.hpp"
#include "transport/net/lifeline.hpp"

namespace weft::core {

namespace {

constinit base::IntSetting spin{{.name = "WEFT_SPIN",
                                 .help = "polls of a waiting rank before it yields; -1: by ranks per core",
                                 .unit = base::Unit::count,
                                 .level = base::Level::basic,
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

// What a lane has under way that needs our hands.
[[gnu::noinline]] bool work(Lane& lane) {
  bool moved = false;
  if (lane.streams != nullptr) moved |= advance_streams(lane);
  if (lane.pulls != nullptr || lane.pushes != nullptr) moved |= share_work(lane);
  if (lane.readings != nullptr) moved |= advance_readings(lane);
  lane.at_work.store(lane.streams != nullptr || share_open(lane) || reading_open(lane), std::memory_order_relaxed);
  return moved;
}

bool progress_lane(Lane& lane) {
  bool moved = lane.ring != nullptr     ? receive_ring(lane)
               : world->host != nullptr ? world->host->poll(lane.index, on_arrival) != 0
                                        : false;
  if (world->fabric != nullptr) [[unlikely]]
    moved |= world->fabric->poll(lane.index, on_arrival) != 0;
  if (lane.at_work.load(std::memory_order_relaxed)) [[unlikely]]
    moved |= work(lane);
  return moved;
}

// Nothing to do there, as far as one can see without its lock.
bool looks_idle(const Lane& lane) {
  const bool quiet =
      lane.ring != nullptr ? lane.ring->empty() : world->host == nullptr || world->host->looks_empty(lane.index);
  return quiet && !lane.at_work.load(std::memory_order_relaxed) &&
         (world->fabric == nullptr || world->fabric->looks_empty(lane.index));
}

// At MPI_THREAD_MULTIPLE, unless another thread is at it.
bool try_progress(Lane& lane) {
  if (looks_idle(lane)) return false;
  LaneGuard guard(lane, LaneGuard::TryTag{});
  if (!guard.held()) return false;
  return progress_lane(lane);
}

bool flush() {
  bool sent = false;
  if (rma::gathered.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    sent = rma::send_gathered();
  if (world->peers_waiting.load(std::memory_order_relaxed) != nullptr) sent |= flush_waiting();
  return sent;
}

}  // namespace

bool progress() {
  if (!world->multiple) {
    const bool moved = progress_lane(world->lanes[0]);
    return flush() | moved;
  }
  bool moved = flush();
  for (uint32_t i = 0; i < world->lane_map.lanes(); ++i) moved |= try_progress(world->lanes[i]);
  return moved;
}

void progress_at_times() {
  constexpr uint32_t every = 8;
  if (++hot_thread().calls_without_progress % every == 0) (void)progress();
}

bool progress_for(const Request& request, uint32_t round) {
  constexpr uint32_t others_every = 8;
  const bool all = request.lane >= world->lane_map.lanes() || round % others_every == others_every - 1 ||
                   sleepers.load(std::memory_order_relaxed) != 0;  // who is awake sees to the messages of who sleeps
  if (!world->multiple || all) return progress();
  return try_progress(world->lanes[request.lane]);
}

void look_around(uint64_t now_ns) {
  constexpr uint64_t every_ns = 100000000;
  static constinit std::atomic<uint64_t> looked_ns = 0;
  if (world->lifelines == nullptr || now_ns - looked_ns.load(std::memory_order_relaxed) < every_ns) return;
  looked_ns.store(now_ns, std::memory_order_relaxed);
  world->lifelines->look();
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

// ---- waiting

namespace {

base::Lock sleep_lock;
std::atomic<int32_t> awake = 0;  // threads that wait and are awake, of those that found nothing for a while
bool fences_own_threads = false;

void private_futex(int operation, std::atomic<uint32_t>& word, uint32_t value, const timespec* time) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, time, nullptr, 0);
}

}  // namespace

constinit std::atomic<uint32_t> sleepers = 0;
constinit Backoff::Sleeper* Backoff::first_sleeper = nullptr;
constinit Backoff* Backoff::sentinel = nullptr;
constinit std::atomic<uint32_t> Backoff::any_sleepers = 0;
constinit std::atomic<uint64_t> Backoff::wakes = 0;
constinit std::atomic<uint64_t> Backoff::others_done = 0;

namespace {

uint32_t rounds_of(const base::IntSetting& setting, uint32_t otherwise) {
  return setting.value() >= 0 ? static_cast<uint32_t>(setting.value()) : otherwise;
}

}  // namespace

void Backoff::tune(int ranks_here, int cpus_here) {
  const bool crowded = ranks_here > cpus_here;
  spin_rounds = rounds_of(spin, crowded ? 0 : 20000);
  yield_rounds = rounds_of(yields, crowded ? 200 : 1000);
  fences_own_threads = world->multiple && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void Backoff::tune_for_threads(int threads) {
  if (threads <= world->cpu_share) return;
  // Not none, as with more ranks than processors: one of the threads may only have started the others.
  constexpr uint32_t few = 50;
  const uint32_t now = spin_rounds.load(std::memory_order_relaxed);
  spin_rounds.store(rounds_of(spin, std::min(now, few)), std::memory_order_relaxed);
  yield_rounds.store(rounds_of(yields, 200), std::memory_order_relaxed);
}

void Backoff::relax() {
  base::cpu_relax();
}

// Ranks that wait as we do hand the processor on within microseconds. When it is mostly gone for longer, it goes to
// somebody who works: who goes on yielding gets a few percent of it, who sleeps is let in as soon as there is news.
// Each thread counts for itself: it may be another of ours that works, and that one must not sleep over it.
void Backoff::yield() {
  constexpr uint64_t long_ns = 500000;
  constexpr uint64_t window_ns = 20000000;
  constexpr uint64_t while_ns = 250000000;
  Thread& thread = this_thread();
  const uint64_t from_ns = base::now_ns();
  if (from_ns < thread.sleep_until_ns) {
    rounds_ = std::max(rounds_, all_rounds());
    return;
  }
  sched_yield();
  const uint64_t now_ns = base::now_ns();
  look_around(now_ns);
  if (now_ns - from_ns < long_ns) [[likely]]
    return;
  thread.gone_ns += now_ns - from_ns;
  const uint64_t window = now_ns - thread.gone_since_ns;
  if (window < window_ns) return;
  if (thread.gone_ns > window / 4 * 3) thread.sleep_until_ns = now_ns + while_ns;
  thread.gone_since_ns = now_ns;
  thread.gone_ns = 0;
}

// More threads wait than there are processors: those beyond sleep at once.
void Backoff::note_crowd() {
  if (!world->multiple || counted_) return;
  counted_ = true;
  if (awake.fetch_add(1, std::memory_order_relaxed) >= world->cpu_share) rounds_ = all_rounds() + 1;
}

void Backoff::lie_down(Sleeper& me) {
  slept_ = true;
  if (counted_) awake.fetch_sub(1, std::memory_order_relaxed);
  counted_ = false;
  if (!world->multiple) {
    me.sentinel = true;
    if (world->host != nullptr) world->host->arm();
    return;
  }
  {
    std::lock_guard guard(sleep_lock);
    me.next = first_sleeper;
    first_sleeper = &me;
    if (request_ != nullptr) {
      std::atomic_ref(const_cast<bool&>(request_->slept_on)).store(true, std::memory_order_relaxed);
    } else {
      any_sleepers.fetch_add(1, std::memory_order_relaxed);
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    // Who lies down while the sentinel naps takes its place: somebody must be woken by a message.
    const bool vacant = sentinel == nullptr || (sentinel != this && sentinel->nap_ns_ != 0);
    if (vacant && world->host != nullptr) sentinel = this;
    if (sentinel != this) nap_ns_ = 0;
    me.sentinel = sentinel == this && nap_ns_ == 0;
    watched_ = sentinel == this;
    just_before_ = before_sleep_ = now();
  }
  if (me.sentinel) {
    world->host->arm();
  }
  if (fences_own_threads) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

// The last look before sleeping, by who watches for messages.
bool Backoff::stirs(const Sleeper& me) {
  if (!me.sentinel) return false;
  if (progress()) return true;
  if (world->fabric != nullptr && !world->fabric->may_sleep()) return true;
  if (!world->multiple) return false;
  // A lane that another thread was at may have got a message after its last look.
  for (uint32_t i = 0; i < world->lane_map.lanes(); ++i) {
    const Lane& lane = world->lanes[i];
    const bool quiet = lane.ring != nullptr ? lane.ring->empty() : world->host->looks_empty(i);
    if (!quiet || lane.lock.is_taken()) return true;
  }
  return false;
}

Backoff::Deeds Backoff::now() {
  return {wakes.load(std::memory_order_relaxed), others_done.load(std::memory_order_relaxed)};
}

// Whether what went on was of use to those who sleep, and not only to threads that are awake and see to their messages
// themselves.
bool Backoff::helped(const Deeds& since) {
  const Deeds done = now();
  return done.wakes != since.wakes || done.others_done == since.others_done;
}

// While messages come for threads that are awake and wait for them, it is a burden on those, and on who sends, that
// each wakes the sentinel: it naps instead, not armed, and looks in at the end of each nap, until it could help again.
void Backoff::look_back() {
  constexpr uint64_t shortest = 50000;
  constexpr uint64_t longest = 250000;
  watched_ = false;
  std::lock_guard guard(sleep_lock);
  if (sentinel != this || helped(before_sleep_)) {
    nap_ns_ = 0;
  } else {
    nap_ns_ = nap_ns_ == 0 ? shortest : std::min(2 * nap_ns_, longest);
    rounds_ = all_rounds();
  }
}

void Backoff::sleep(Sleeper& me) {
  Thread& thread = this_thread();
  count(thread.sleeps);
  tell_of(Event::sleep, {});
  const uint64_t from_ns = base::now_ns();
  rest(me);
  const uint64_t slept_ns = base::now_ns() - from_ns;
  look_around(from_ns + slept_ns);
  count(thread.slept_ns, slept_ns);
  tell_of(Event::wake, {.amount = static_cast<int64_t>(slept_ns)});
}

void Backoff::rest(Sleeper& me) {
  constexpr uint64_t second = 1000000000;
  // Staging memory and room in a peer's ring become free without a message: look again soon while something waits for
  // it. And without membarrier a wake-up may be missed.
  constexpr uint64_t soon = 1000000;
  bool look_soon =
      world->peers_waiting.load(std::memory_order_relaxed) != nullptr || (world->multiple && !fences_own_threads);
  for (uint32_t i = 0; i < world->lane_map.lanes(); ++i) {
    look_soon |= world->lanes[i].at_work.load(std::memory_order_relaxed);
  }
  look_soon |= world->fabric != nullptr && !world->fabric->all_sent();
  // Who watches for messages may have nothing that wakes it when one comes from another host; the other threads are
  // woken by who completes their requests. To look costs some microseconds for each lane: the longer nothing has come
  // and nothing waits to leave, the more rarely, so that a message is late by a sixteenth of the time that it was
  // waited for.
  const uint64_t in_vain = look_soon ? 0 : rounds_ - std::min(rounds_, all_rounds());
  const uint64_t unwoken_ns = 100000 * uint64_t{world->lane_map.lanes()} * std::min<uint64_t>(1 + in_vain / 16, 10);
  const bool unwoken = me.sentinel && world->fabric != nullptr && world->fabric->wait_descriptor() < 0;
  const uint64_t time_ns = nap_ns_ != 0 ? nap_ns_ : unwoken ? unwoken_ns : look_soon ? soon : second;
  if (me.sentinel && world->host != nullptr) return world->host->sleep(time_ns);
  // Alone in a job, with one thread at a time, nobody can wake us.
  const uint64_t shown_ns = world->multiple ? time_ns : soon;
  const timespec time{static_cast<time_t>(shown_ns / second), static_cast<long>(shown_ns % second)};
  private_futex(FUTEX_WAIT_PRIVATE, me.woken, 0, &time);
}

void Backoff::get_up(Sleeper& me) {
  if (me.sentinel && world->host != nullptr) world->host->disarm();
  if (!world->multiple) return;
  std::lock_guard guard(sleep_lock);
  Sleeper** at = &first_sleeper;
  while (*at != &me) at = &(*at)->next;
  *at = me.next;
  sleepers.fetch_sub(1, std::memory_order_relaxed);
  if (me.request != nullptr) {
    std::atomic_ref(const_cast<bool&>(me.request->slept_on)).store(false, std::memory_order_relaxed);
  } else {
    any_sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Under sleep_lock, which keeps the sleeper where it is.
void Backoff::wake(Sleeper& sleeper) {
  wakes.fetch_add(1, std::memory_order_relaxed);
  if (sleeper.sentinel) {
    world->host->wake();
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
    if (request != nullptr) Backoff::others_done.fetch_add(1, std::memory_order_relaxed);
    if (Backoff::any_sleepers.load(std::memory_order_relaxed) == 0) return;
  }
  std::lock_guard guard(sleep_lock);
  for (Backoff::Sleeper* s = Backoff::first_sleeper; s != nullptr; s = s->next) {
    if (s->request == nullptr || s->request == request) Backoff::wake(*s);
  }
}

// Whoever leaves while it is its turn to watch for messages hands that on.
void Backoff::leave() {
  if (counted_) awake.fetch_sub(1, std::memory_order_relaxed);
  if (!slept_ || !world->multiple) return;
  std::lock_guard guard(sleep_lock);
  if (sentinel != this) return;
  sentinel = nullptr;
  if (first_sleeper == nullptr) return;
  sentinel = first_sleeper->owner;
  wake(*first_sleeper);
}

}  // namespace weft::core
