// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/copy_threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "base/copy.hpp"
#include "base/lock.hpp"
#include "base/own_cpus.hpp"
#include "base/setting.hpp"

namespace weft::base {

namespace {

constexpr int most_threads = 15;
constinit IntSetting threads_row{
    {.name = "WEFT_COPY_THREADS",
     .help = "threads of a rank that help with large copies of puts, gets and messages; for "
             "ranks that have more processors than they compute with",
     .unit = Unit::count,
     .subject = Subject::messages,
     .change = Change::before_start},
    0,
    {0, most_threads}};
WEFT_SETTING(threads_row);

constexpr size_t chunk = 64 << 10;
constinit IntSetting from_row{{.name = "WEFT_COPY_THREADS_FROM",
                               .help = "smallest copy that they help with",
                               .unit = Unit::bytes,
                               .subject = Subject::messages,
                               .change = Change::always},
                              8 << 20,  // docs/measurements/choices.md
                              {1 << 10, int64_t{1} << 40}};
WEFT_SETTING(from_row);

// The copy that is being made. `turn` counts copies in its upper half and the chunks taken of this one in its lower: a
// thread reads the fields, then takes a chunk by a compare-exchange of the whole word. If that succeeds the copy has
// not been finished in between, so the fields were those of this copy.
class SharedCopy {
 public:
  // Called only while no chunk of the copy before is left: wait() has returned.
  void begin(void* to, const void* from, size_t bytes) {
    to_.store(static_cast<char*>(to), std::memory_order_relaxed);
    from_.store(static_cast<const char*>(from), std::memory_order_relaxed);
    bytes_.store(bytes, std::memory_order_relaxed);
    copied_.store(0, std::memory_order_relaxed);
    const uint64_t count = (turn_.load(std::memory_order_relaxed) >> 32) + 1;
    turn_.store(count << 32, std::memory_order_release);  // pairs with the acquire in take_part: fields, and the data
  }

  // Copies chunks while there are any; so many.
  uint32_t take_part() {
    for (uint32_t parts = 0;; ++parts) {
      uint64_t turn = turn_.load(std::memory_order_acquire);
      size_t at = 0, bytes = 0;
      char* to = nullptr;
      const char* from = nullptr;
      do {
        bytes = bytes_.load(std::memory_order_relaxed);
        to = to_.load(std::memory_order_relaxed);
        from = from_.load(std::memory_order_relaxed);
        at = static_cast<size_t>(static_cast<uint32_t>(turn)) * chunk;
        if (at >= bytes) return parts;
      } while (!turn_.compare_exchange_weak(turn, turn + 1, std::memory_order_acq_rel, std::memory_order_acquire));
      const size_t some = std::min(chunk, bytes - at);
      base::copy(to + at, from + at, some);
      copied_.fetch_add(some, std::memory_order_release);  // pairs with the acquire in wait: the chunk
    }
  }

  // Until those who have taken a chunk have copied it.
  void wait() const {
    while (copied_.load(std::memory_order_acquire) != bytes_.load(std::memory_order_relaxed)) sched_yield();
  }

 private:
  alignas(64) std::atomic<uint64_t> turn_{0};
  std::atomic<char*> to_{nullptr};
  std::atomic<const char*> from_{nullptr};
  std::atomic<size_t> bytes_{0};
  alignas(64) std::atomic<size_t> copied_{0};
};

class Crew {
 public:
  void copy(void* to, const void* from, size_t bytes, int threads) {
    if (!one_.try_lock()) {
      base::copy(to, from, bytes);
      return;
    }
    const std::lock_guard guard(one_, std::adopt_lock);
    while (members_ < threads && make_thread()) ++members_;
    copy_.begin(to, from, bytes);
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
    const uint32_t parts = copy_.take_part();
    copy_.wait();
    if (parts < (bytes + chunk - 1) / chunk) helped_.fetch_add(1, std::memory_order_relaxed);
  }

  void end() {
    const std::lock_guard guard(one_);
    ends_.store(true, std::memory_order_relaxed);
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
    for (; members_ > 0; --members_) pthread_join(threads_[members_ - 1], nullptr);
    ends_.store(false, std::memory_order_relaxed);
  }

  uint64_t helped() const { return helped_.load(std::memory_order_relaxed); }

 private:
  void run() {
    uint32_t calls = 0;
    while (!ends_.load(std::memory_order_relaxed)) {
      (void)copy_.take_part();
      calls_.wait(calls, std::memory_order_acquire);
      calls = calls_.load(std::memory_order_acquire);
    }
  }

  // The program's signals are not for these threads.
  bool make_thread() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto body = [](void* crew) -> void* {
      enter_service_cpus();
      static_cast<Crew*>(crew)->run();
      return nullptr;
    };
    const bool made = pthread_create(&threads_[members_], nullptr, body, this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (made) pthread_setname_np(threads_[members_], "weft-copy");
    return made;
  }

  SharedCopy copy_;
  Lock one_;                        // of the thread that wants a copy
  std::atomic<uint32_t> calls_{0};  // copies begun, and the end; threads sleep on it
  std::atomic<bool> ends_{false};
  std::atomic<uint64_t> helped_{0};
  int members_ = 0;
  pthread_t threads_[most_threads]{};
};

// Never destroyed: threads may sleep in it while static objects go.
Crew& crew() {
  static Crew& only = *new Crew;
  return only;
}

}  // namespace

void copy_by_threads(void* to, const void* from, size_t bytes) {
  const bool large = threads_row.value() != 0 && bytes >= static_cast<size_t>(from_row.value());
  const uintptr_t apart = reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from);
  if (large && apart >= bytes && -apart >= bytes) {
    crew().copy(to, from, bytes, static_cast<int>(threads_row.value()));
  } else if (bytes != 0) {  // the pointers may be null otherwise
    base::copy(to, from, bytes);
  }
}

void end_copy_threads() {
  if (threads_row.value() != 0) crew().end();
}

uint64_t helped_copies() {
  return threads_row.value() != 0 ? crew().helped() : 0;
}

}  // namespace weft::base
