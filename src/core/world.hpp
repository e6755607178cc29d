// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The runtime of one process: its rank, its lanes, its peers, its transports. One object, made by start() and ended by
// stop(); everything below MPI's objects hangs from it.

#include <cstddef>
#include <cstdint>

#include "core/identity.hpp"
#include "core/lane.hpp"
#include "core/peer.hpp"
#include "core/thread.hpp"
#include "core/waits.hpp"

namespace weft::core {

// The counts of the process.
struct Counters {
  PathCount sent[path_count];
  uint64_t unexpected = 0;  // messages that came before their receive
  uint64_t retries = 0;     // sends that found the way full
  uint64_t sleeps = 0;      // waits that ended in the kernel
  uint64_t slept_ns = 0;
  uint64_t lock_waits = 0;
  uint64_t settlements = 0;
  uint64_t saturations = 0;    // times senders were asked for envelopes only
  uint64_t reads_failed = 0;   // messages that came by R1 because a read of them failed
  uint64_t writes_failed = 0;  // chunks of R1 that went as messages because a write of them failed
  uint64_t bytes_placed = 0;   // of R1, that senders wrote into our receives
  uint64_t stale = 0;          // answers that came too late, or were to nothing: dropped
  uint32_t lanes = 1;
  uint64_t arrived[transport::max_lanes] = {};  // messages by lane
};

// Unexpected messages: those kept now, and the most that one lane has kept at the same time.
struct Kept {
  uint64_t messages = 0;
  uint64_t bytes = 0;
  uint64_t most_messages = 0;
  uint64_t most_bytes = 0;
};

// The parts of a world. start() finds it out with the launcher and the settings, a unit test says it.
struct Config {
  int32_t rank = 0;
  int32_t size = 1;
  int32_t first = 0;
  int32_t places = 0;     // 0: as many as ranks
  bool multiple = false;  // as in ThreadList
  bool concurrent = false;
  Design design = Design::hot;
  int32_t cpus = 1;
  int32_t cpu_share = 1;
  uint32_t mailbox_limit = 0;
  transport::LaneMap lane_map = {};
  uint32_t spin_rounds = 2000;
  uint32_t yield_rounds = 100;
};

struct World {
  Identity identity;
  bool hosts_left = false;  // the ranks of all hosts have met at the end
  Peers peers;
  ThreadList threads;
  Waits waits;
  Lanes lanes;

  // Makes and ends everything but the transports to other ranks, which are the caller's: they are set after open(), and
  // live until close() has returned. The world must be the current one (core::world).
  void open(const Config& config);
  void close();
};

// The world that the calls of this process act on. There is one but in unit tests, which enter() one of several; the
// result is the one before it.
World* enter(World* entered);
[[gnu::visibility("hidden")]] extern World* world;  // hidden here too: one load less than through the offset table

// The counts of all lanes and threads so far. Both may be asked by any thread, also before start() and after
// stop().
Counters counters();
Kept kept_messages();

// Joins the job, for threads that call at the same time (MPI_THREAD_MULTIPLE) or not. Ends the process with a message
// when it cannot. `alike` is called once the rank is known; its result, any number but 0, stands for how
// collective operations are done (coll/select.hpp): ranks for which it differs end the job.
void start(bool multiple, uint64_t (*alike)());

// Completes what is still on its way, and tells the launcher and other ranks that the process may end. Nothing of the
// program's is open, and the runtime has no thread, until resume(). Between hosts all ranks meet in the first.
void rest();
void resume();

// Leaves the job, after rest().
void stop();

// Memory of our own that ranks of this host reach directly, zero, at a multiple of a page and of `alignment`, a power
// of two: its pages are taken. nullptr with errno set when there is none. Thread-safe.
[[nodiscard]] void* allocate_shared(size_t bytes, size_t alignment);
// The same for the program (MPI_Alloc_mem, windows, a symmetric heap), of the kind that it wishes: pages are taken when
// they are touched. Thread-safe.
[[nodiscard]] pages::Grant grant_shared(size_t bytes, const pages::Wish& wish);
// The kind of such memory, where `memory` lies in it; false: it does not. Thread-safe.
[[nodiscard]] bool granted(const void* memory, pages::Grant& grant);
// Gives back memory of either; false for memory that did not come from here. Thread-safe.
[[nodiscard]] bool release_shared(void* memory);

}  // namespace weft::core
