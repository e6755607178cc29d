// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The state that the waiting threads of a process share: the sleepers, the one among them that watches for messages,
// and the time to spin before. core/progress/waiting.hpp uses it, docs/design/threads.md explains it ("Waiting").

#include <atomic>
#include <cstdint>

#include "base/lock.hpp"

namespace weft::core {

class Backoff;
struct Request;

// A thread that sleeps, or is about to. Lies on its stack.
struct Sleeper {
  Sleeper* next;
  const Request* request;  // nullptr: any completion wakes it
  Backoff* owner;
  std::atomic<uint32_t> woken = 0;
  bool sentinel = false;  // sleeps on the process's attention word
};

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): words that all read and words that waits write, apart
struct Waits {
  std::atomic<uint32_t> sleepers = 0;        // threads that sleep; always zero while one thread communicates at a time
  std::atomic<uint32_t> any_sleepers = 0;    // those of them that wait for no certain request
  std::atomic<uint32_t> spin_rounds = 2000;  // rounds without progress before a thread yields
  std::atomic<uint32_t> shared_polls = 0;    // the same where threads share cores, at most; spin_rounds is 0 there
  std::atomic<uint32_t> yield_rounds = 100;  // and then before it sleeps
  std::atomic<uint32_t> others_every = 8;    // rounds of a wait between looks at other lanes; 2^n
  bool fences_own_threads = false;           // membarrier works

  // Words that waits write; those above are read in each round.
  alignas(128) std::atomic<int32_t> awake = 0;   // threads that wait, awake, and have found nothing for a while
  std::atomic<uint64_t> wakes = 0;               // sleepers woken so far
  std::atomic<uint64_t> others_done = 0;         // requests completed, while some slept, that nobody slept on
  std::atomic<uint64_t> hosts_looked_at_ns = 0;  // when look_around() looked last

  base::Lock lock;  // of what follows
  Sleeper* first = nullptr;
  uint32_t watchers = 0;        // threads that sleep until memory changes
  Backoff* sentinel = nullptr;  // whose turn it is to watch for messages: awake, or asleep on the attention word

  uint32_t all_rounds() const {
    return spin_rounds.load(std::memory_order_relaxed) + yield_rounds.load(std::memory_order_relaxed);
  }
};

// It points into the current world (core/runtime/world.hpp).
[[gnu::visibility("hidden")]] extern Waits* waits;

// Sets what threads do before they sleep, for so many threads of the program.
void tune_for_threads(int live);

// Wakes the threads that wait for this request, and those that wait for anything (nullptr: only these).
[[gnu::noinline]] void wake_sleepers(const Request* request);

// Something happened that a thread may wait for. The store before it needs no fence: see docs/design/threads.md,
// "Sleep".
inline void tell_sleepers(const Request* request) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (waits->sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
    wake_sleepers(request);
}

}  // namespace weft::core
