// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The state of one thread: a cache of requests, counters of what it sent, completions to be followed up once it
// holds no lane. Below MPI_THREAD_MULTIPLE all threads of the program share one, for they take turns.

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/lock.hpp"
#include "core/object/request.hpp"
#include "core/thread/patience.hpp"

namespace weft::core {

// Messages and bytes sent per path; see docs/design/architecture.md for the paths.
enum class Path : uint8_t { mailbox, buffer, get, stream };
inline constexpr int path_count = 4;
inline constexpr const char* path_names[path_count] = {"E0 mailbox", "E1 buffer", "R0 get", "R1 stream"};

struct PathCount {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};

// Counters have one writer at a time. Any thread may read them, and finds the count of that moment or a little older:
// an aligned word is written whole. The addition stays a plain one, which is one instruction; only the thread sanitizer
// is told that this is meant.
inline void count(uint64_t& counter, uint64_t more = 1) {
#ifdef WEFT_TSAN
  std::atomic_ref shared(counter);
  shared.store(shared.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
#else
  counter += more;
#endif
}
inline uint64_t counted(const uint64_t& counter) {
  return std::atomic_ref(const_cast<uint64_t&>(counter)).load(std::memory_order_relaxed);
}

struct alignas(64) Thread {
  Request* free_requests = nullptr;
  int32_t free_count = 0;
  int32_t lanes_held = 0;
  Request* ended = nullptr;   // completed under a lane's lock, with an on_done to run after it
  bool following_up = false;  // run_ended() is at it
  bool in_use = false;
  bool service = false;               // of the library, not of the program
  std::atomic<bool> posting = false;  // core/progress/progress_thread_post.hpp
  uint32_t calls_without_progress = 0;
  PathCount sent[path_count];
  uint64_t retries = 0;   // sends that found the way full
  uint64_t sleeps = 0;    // waits that ended in the kernel
  uint64_t slept_ns = 0;  // and for how long
  // Times of waits: how long the processor was gone in long yields, since when that is counted, until when to sleep
  // instead, when that was last cut short, and how many short sleeps came one after the other.
  uint64_t gone_ns = 0;
  uint64_t gone_since_ns = 0;
  uint64_t sleep_until_ns = 0;
  uint64_t tried_ns = 0;
  uint32_t short_sleeps = 0;
  Patience patience;
  Thread* next = nullptr;  // of all that ever were

  // A request from the cache; nullptr when there is no memory.
  Request* take_request() {
    Request* r = free_requests;
    if (r == nullptr) [[unlikely]]
      return refill();
    return take_first();
  }
  // Takes a request when the cache is known not to be empty.
  Request* take_first() {
    Request* r = free_requests;
    free_requests = r->next;
    --free_count;
    return r;
  }
  void give_request(Request* r) {
    std::atomic_ref(r->kind).store(base::Kind::free, std::memory_order_relaxed);
    r->next = free_requests;
    free_requests = r;
    if (++free_count > most_cached) [[unlikely]]
      spill();
  }

  // Follows up what ended while lanes were held. An operation that ends meanwhile is followed up too, here and not
  // deeper in the stack.
  void run_ended();

 private:
  static constexpr int32_t most_cached = 1024;
  Request* refill();
  void spill();
};

// Requests that were made together.
struct Slab {
  Request* first;
  uint32_t pooled;  // of them in the pool: when all are, nobody needs to look at them
};

// How threads share the runtime at MPI_THREAD_MULTIPLE: docs/design/threads.md, "Lanes".
enum class Design : uint8_t { global, object, hot };

// The threads of a process, and at MPI_THREAD_MULTIPLE the requests that no thread has in its cache.
struct ThreadList {
  Thread main;              // that of all threads of the program while they take turns
  bool multiple = false;    // the program asked for MPI_THREAD_MULTIPLE
  bool concurrent = false;  // threads may be in core at the same time: locks are taken
  Design design = Design::hot;

  base::Lock lock;          // of what follows
  Thread* first = nullptr;  // of all that ever were
  int live = 0;             // threads now
  Request* pool = nullptr;
  std::vector<Slab> slabs;  // by address
  pthread_key_t at_exit{};
  bool has_key = false;
};

// It points into the current world (core/runtime/world.hpp).
[[gnu::visibility("hidden")]] extern ThreadList* threads;

// The calling thread's record at MPI_THREAD_MULTIPLE; nullptr before its first call.
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local Thread* own_thread;
[[gnu::cold, gnu::noinline]] Thread& enter_thread();
// Enters a thread of our own, which does not count as one of the program's.
void enter_service_thread();

inline Thread& hot_thread() {
  Thread* t = own_thread;
  return t != nullptr ? *t : enter_thread();
}

inline Thread& this_thread() {
  return threads->concurrent ? hot_thread() : threads->main;
}

// The counts of all threads.
struct ThreadTotals {
  PathCount sent[path_count];
  uint64_t retries = 0;
  uint64_t sleeps = 0;
  uint64_t slept_ns = 0;
};
ThreadTotals thread_totals();

// Whether any live request is as asked. Looks at the slabs of live requests and of those in threads' caches, however
// many others there have been.
bool any_request(bool (*asked)(const Request&, const void*), const void* about);

// How many operations of this communicator, or of all (nullptr), are under way: started and not complete.
struct UnderWay {
  int64_t sends = 0;
  int64_t receives = 0;
  int64_t others = 0;  // partitioned and generalized ones
  int64_t all() const { return sends + receives + others; }
};
UnderWay requests_under_way(const Comm* comm);

// Between start() and stop(): threads register themselves from the first on, and their caches are emptied at the end.
void open_threads();
void close_threads();

}  // namespace weft::core
