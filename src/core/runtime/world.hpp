// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The runtime of one process: its rank, its lanes, its peers, its transports. One object, made by start() and ended by
// stop(); everything below MPI's objects hangs from it.

#include <cstddef>
#include <cstdint>

#include "core/lane/lane.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"
#include "core/thread/thread.hpp"
#include "core/thread/waits.hpp"

namespace weft::core {

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
  bool hosts_left = false;  // the ranks of all hosts have synchronised at the end
  Peers peers;
  ThreadList threads;
  Waits waits;
  Lanes lanes;

  // Makes and ends everything but the transports to other ranks, which are the caller's: they are set after open(), and
  // live until close() has returned. The world must be the current one.
  void open(const Config& config);
  void close();
};

// The world that the calls of this process act on. There is one but in unit tests, which enter() one of several; the
// result is the one before it.
World* enter(World* entered);
[[gnu::visibility("hidden")]] extern World* world;  // hidden here too: one load less than through the offset table

// Joins the job, for threads that call at the same time (MPI_THREAD_MULTIPLE) or not. Ends the process with a message
// when it cannot. `alike` is called once the rank is known; its result, any number but 0, stands for how
// collective operations are done (coll/select/select.hpp): ranks for which it differs end the job.
void start(bool multiple, uint64_t (*alike)());

// Completes what is still on its way, and tells the launcher and other ranks that the process may end. Nothing of the
// program's is open, and the runtime has no thread, until resume(). In a job of several hosts all ranks synchronise in
// the first call.
void rest();
void resume();

// Leaves the job, after rest().
void stop();

}  // namespace weft::core
