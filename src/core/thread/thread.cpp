// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread/thread.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#include "base/lock.hpp"
#include "core/object/failure.hpp"
#include "core/thread/waits.hpp"

namespace weft::core {

constinit thread_local Thread* own_thread = nullptr;

namespace {

constexpr uint32_t slab_requests = 64;

// The list's lock is held.
Slab& slab_of(const Request* r) {
  auto& slabs = threads->slabs;
  const auto behind = std::upper_bound(slabs.begin(), slabs.end(), r,
                                       [](const Request* one, const Slab& slab) { return one < slab.first; });
  return *(behind - 1);
}

// Calls `look` for all requests that may be live, until it says true; whether it did. Under the list's lock.
template <class Look>
bool look_at_requests(Look&& look) {
  for (const Slab& slab : threads->slabs) {
    if (slab.pooled == slab_requests) continue;
    for (size_t i = 0; i < slab_requests; ++i) {
      Request& r = slab.first[i];
      const bool live = std::atomic_ref(r.kind).load(std::memory_order_relaxed) == base::Kind::request;
      if (live && look(r)) return true;
    }
  }
  return false;
}

// Requests of a thread's cache go to the pool, `keep` stay.
void give_back(Thread& t, int32_t keep) {
  while (t.free_count > keep) {
    Request* r = t.free_requests;
    t.free_requests = r->next;
    --t.free_count;
    r->next = threads->pool;
    threads->pool = r;
    ++slab_of(r).pooled;
  }
}

void leave_thread(void* thread) {
  std::lock_guard guard(threads->lock);
  auto& t = *static_cast<Thread*>(thread);
  give_back(t, 0);
  t.in_use = false;  // what it counted stays
  if (!t.service) tune_for_threads(--threads->live);
  own_thread = nullptr;
}

void add(PathCount& to, const PathCount& from) {
  to.messages += counted(from.messages);
  to.bytes += counted(from.bytes);
}

Thread& enter(bool service) {
  std::lock_guard guard(threads->lock);
  Thread* t = threads->first;
  while (t != nullptr && t->in_use) t = t->next;
  if (t == nullptr) {
    t = new (std::nothrow) Thread;
    if (t == nullptr)
      failed(FailureCause::memory,
             {.cause = "no memory for a thread's part of the runtime", .remedy = "free memory on this host"});
    t->next = threads->first;
    threads->first = t;
  }
  t->in_use = true;
  t->service = service;
  own_thread = t;
  if (!service) tune_for_threads(++threads->live);
  if (threads->has_key) pthread_setspecific(threads->at_exit, t);
  return *t;
}

}  // namespace

// While one thread at a time is in core, own_thread stays empty: it tells the functions for several threads, such as
// try_now_wide(), that they do not apply.
Thread& enter_thread() {
  if (!threads->concurrent) return threads->main;
  if (!threads->multiple) return *(own_thread = &threads->main);
  return enter(false);
}

void enter_service_thread() {
  (void)enter(true);
}

Request* Thread::refill() {
  std::lock_guard guard(threads->lock);
  if (threads->pool == nullptr) {
    auto* fresh = static_cast<Request*>(base::Arena::allocate(slab_requests * sizeof(Request)));
    if (fresh == nullptr) return nullptr;
    auto& slabs = threads->slabs;
    slabs.insert(std::upper_bound(slabs.begin(), slabs.end(), fresh,
                                  [](const Request* one, const Slab& slab) { return one < slab.first; }),
                 Slab{fresh, slab_requests});
    for (size_t i = slab_requests; i-- > 0;) {
      ::new (fresh + i) Request();
      fresh[i].next = threads->pool;
      threads->pool = fresh + i;
    }
  }
  for (size_t i = 0; i < slab_requests && threads->pool != nullptr; ++i) {
    Request* r = threads->pool;
    threads->pool = r->next;
    --slab_of(r).pooled;
    r->next = free_requests;
    free_requests = r;
    ++free_count;
  }
  return take_request();
}

void Thread::spill() {
  std::lock_guard guard(threads->lock);
  give_back(*this, most_cached / 2);
}

void Thread::run_ended() {
  if (following_up) return;
  following_up = true;
  while (Request* r = ended) {
    ended = r->next;
    end(*r);
  }
  following_up = false;
}

ThreadTotals thread_totals() {
  std::lock_guard guard(threads->lock);
  ThreadTotals totals;
  auto take = [&](const Thread& t) {
    for (int p = 0; p < path_count; ++p) add(totals.sent[p], t.sent[p]);
    totals.retries += counted(t.retries);
    totals.sleeps += counted(t.sleeps);
    totals.slept_ns += counted(t.slept_ns);
  };
  take(threads->main);
  for (const Thread* t = threads->first; t != nullptr; t = t->next) take(*t);
  return totals;
}

bool any_request(bool (*asked)(const Request&, const void*), const void* about) {
  std::lock_guard guard(threads->lock);
  return look_at_requests([&](const Request& r) { return asked(r, about); });
}

namespace {

// Reads a request that its owner may be starting or ending just now: the result may be a moment old. The plain read of
// `done` instead of is_done() is for the thread sanitizer, which would look into that function.
[[gnu::noinline, gnu::no_sanitize_thread]] void add_request(UnderWay& counts, const Request& r) {
  if (r.done || (r.flags.persistent && !r.flags.active)) return;
  ++(r.role == Role::send ? counts.sends : r.role == Role::receive ? counts.receives : counts.others);
}

}  // namespace

UnderWay requests_under_way(const Comm* comm) {
  std::lock_guard guard(threads->lock);
  UnderWay counts;
  (void)look_at_requests([&](Request& r) {
    if (comm == nullptr || std::atomic_ref(r.comm).load(std::memory_order_relaxed) == comm) add_request(counts, r);
    return false;
  });
  return counts;
}

void open_threads() {
  threads->has_key = threads->concurrent && pthread_key_create(&threads->at_exit, leave_thread) == 0;
}

void close_threads() {
  if (threads->has_key) pthread_key_delete(threads->at_exit);
  threads->has_key = false;
}

}  // namespace weft::core
