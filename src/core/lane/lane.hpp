// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Lanes: independent paths into a process, each with a receive ring, matching tables, protocol state and a lock. See
// docs/design/threads.md.

#include <cstdint>

#include "base/lock.hpp"
#include "core/lane/sequence_numbers.hpp"
#include "core/match/match.hpp"
#include "core/thread/thread.hpp"
#include "transport/inlined.hpp"

namespace weft::core {

struct Inflow;
struct Landing;
struct Pull;
struct Push;
inline constexpr int64_t lane_chunk_bytes = 256 << 10;

struct Loading;
struct RendezvousRead;

// All under `lock`, which is taken at MPI_THREAD_MULTIPLE only, but for what is atomic.
struct alignas(128) Lane {
  base::Lock lock;
  std::atomic<uint32_t> entering = 0;  // threads that wait for the lock
  uint32_t index = 0;
  transport::inlined::RingReader* ring = nullptr;  // ours of this host, unless the mock stands before it
  Request* streams = nullptr;                      // sends of path R1 with data still to move
  Inflow* inflows = nullptr;                       // receives of path R1 under way
  Pull* pulls = nullptr;                           // receives of path R0 that both sides copy, oldest first
  uint64_t pulls_begun = 0;                        // the number of the last one
  Push* pushes = nullptr;                          // sends of path R0 whose receivers let us help, newest first
  RendezvousRead* readings = nullptr;              // receives of path R0 that a transport reads, oldest first
  Loading* loadings = nullptr;                     // receives of path R0 that a device copies, oldest first
  std::atomic<bool> at_work = false;               // one of these may be there, with something for us to do
  bool saturated = false;
  char* chunk = nullptr;                      // of lane_chunk_bytes, for R0's copies in two steps; made on first use
  std::atomic<int64_t> sends_open = 0;        // started here and not complete; see count_sends()
  std::atomic<int64_t> unexpected_bytes = 0;  // of data kept; written under the lock
  Unexpected* free_unexpected = nullptr;      // small ones, kept for reuse
  int free_unexpected_count = 0;
  RendezvousRead* free_readings = nullptr;  // kept for reuse
  Landing* landings = nullptr;              // messages of path E1 that are pushed
  Landing* free_landings = nullptr;         // kept for reuse
  // Counters, written under the lock; see count().
  std::atomic<uint64_t> arrived = 0;  // messages that came; any thread may ask
  uint64_t unexpected = 0;            // messages that came before their receive
  uint64_t lock_waits = 0;            // times the lock was found taken by who had to have it
  uint64_t settlements = 0;           // times all lanes were looked at for a receive with MPI_ANY_TAG
  uint64_t saturations = 0;           // times its unexpected data went beyond their limit
  uint64_t reads_failed = 0;          // messages that came by R1 because a read of them, once begun, failed
  uint64_t writes_failed = 0;         // chunks of R1 that went as messages because writing them, once begun, failed
  uint64_t bytes_placed = 0;          // of R1, that senders wrote into our receives
  uint64_t stale = 0;                 // answers to operations that no longer wait for one, which are dropped
  uint64_t most_unexpected = 0;       // messages kept at the same time
  uint64_t most_unexpected_bytes = 0;
  int32_t numbered_by = transport::no_peer;  // the sender of the message that is being taken, if it is numbered
  Tallies tallies;
  Matcher matcher;

  // Sends by request that start (1) or end (-1). Each has its home in one lane, and that lane is held: starting or
  // cancelling a send takes it, and every answer of a receiver comes by the lane that the announcement named. So a load
  // and a store will do; a thread that waits for the last send reads without the lock.
  void count_sends(int64_t change) {
    sends_open.store(sends_open.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }

  void enter() {
    if (lock.try_lock()) [[likely]]
      return;
    entering.fetch_add(1, std::memory_order_relaxed);
    lock.lock();
    entering.fetch_sub(1, std::memory_order_relaxed);
    count(lock_waits);
  }
};

// The lanes of a process.
struct Lanes {
  transport::LaneMap map;
  AnyTags any_tags;                            // with all lanes held
  Watches watches;                             // with all lanes held
  std::atomic<uint32_t> claims_in_use = 0;     // our claim slots, a bit each
  std::atomic<int32_t> saturated = 0;          // lanes
  Lane* addresses[transport::max_lanes] = {};  // those of `all`, which spare a multiplication by their size
  Lane all[transport::max_lanes];

  // Whether messages for this receive may come by any lane; and the lane by which they come otherwise.
  bool is_across(const Envelope& wanted) const { return wanted.tag == any_tag && map.parts(); }
  Lane& of(const Envelope& e) { return all[map.lane_of(e.context, e.tag)]; }
  int64_t sends_open() const;
  bool receives_streams();  // data of streams (R1) are on their way to matched receives
};

// It points into the current world (core/runtime/world.hpp).
[[gnu::visibility("hidden")]] extern Lanes* lanes;

// Whether a stream comes in for a receive; with the lane held. By protocol/r1_stream.cpp.
[[nodiscard]] bool streams_into_receives(const Lane& lane);

// Holds a lane; nothing below MPI_THREAD_MULTIPLE. Completions that happen meanwhile are followed up at the end.
class LaneGuard {
 public:
  explicit LaneGuard(Lane& lane);
  struct TryTag {};
  LaneGuard(Lane& lane, TryTag);
  ~LaneGuard() { release(); }
  LaneGuard(const LaneGuard&) = delete;
  LaneGuard& operator=(const LaneGuard&) = delete;

  bool held() const { return held_; }
  void release();

 private:
  Lane& lane_;
  Thread* thread_ = nullptr;  // nullptr below MPI_THREAD_MULTIPLE
  bool held_ = true;
};

// Holds all lanes of this process.
class AllLanesGuard {
 public:
  AllLanesGuard();
  ~AllLanesGuard();
  AllLanesGuard(const AllLanesGuard&) = delete;
  AllLanesGuard& operator=(const AllLanesGuard&) = delete;
};

// Takes in what is under way, and gives pending messages to the receives that the rules say; no lane is held. By
// core/message/settle.cpp.
void settle();

}  // namespace weft::core
