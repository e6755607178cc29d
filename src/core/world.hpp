// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The runtime of one process: its rank, its lanes, its peers, its transports. One object, made by start() and ended by
// stop(); everything below MPI's objects hangs from it.

#include <cstddef>
#include <cstdint>

#include "core/identity.hpp"
#include "core/lane.hpp"
#include "core/stamp.hpp"
#include "core/thread.hpp"
#include "core/waits.hpp"
#include "transport/api/transport.hpp"
#include "transport/open.hpp"

namespace weft::core {

// A message that found the way full: a request, or a protocol message we keep a copy of.
struct Waiting;
struct Peer;

// Those to one peer, in order. With the lock of the SendQueues that they are in.
struct SendQueue {
  Waiting* first = nullptr;
  Waiting* last = nullptr;
  Peer* peer = nullptr;
  SendQueue* next = nullptr;  // of the queues with messages
  bool listed = false;        // among them
};

// The queues with messages of all peers, by their place at the peer.
struct alignas(64) SendQueues {
  base::Lock lock;
  SendQueue* first = nullptr;
};

struct Peer {
  // The peer's rings while small messages may go straight into them: it is on this host, nothing waits for room, and it
  // has not asked for envelopes only. Otherwise nullptr, and sends take the general way. `open` when both sides have
  // one lane and one thread at a time, `wide` in all other cases.
  std::atomic<transport::inlined::Endpoint*> open = nullptr;
  std::atomic<transport::inlined::Endpoint*> wide = nullptr;
  transport::inlined::Endpoint* near = nullptr;  // what one of them is when it is open
  transport::Endpoint* endpoint = nullptr;
  transport::Transport* transport = nullptr;
  transport::LaneMap lane_map;
  Stamps* stamps = nullptr;  // when the peer has several lanes
  bool counts = false;       // messages to it have numbers instead of stamps: core/numbers.hpp
  int32_t rank = -1;
  int32_t our_rank = -1;               // as the peer numbers ours: core/other_jobs.hpp
  uint32_t generation = 0;             // of the process that it stands for: core/growth.hpp
  std::atomic<bool> readable = false;  // a direct read of the peer's memory has worked
  std::atomic<bool> writes = true;     // the peer has not failed to write into our memory
  std::atomic<bool> pinned = false;    // staging memory, ours and the peer's, for copies of a device
  std::atomic<int32_t> lost = 0;       // the error of operations with it since it is lost: end_pending()

  // Messages that found the way full: send_queue.hpp.
  std::atomic<uint64_t> queued = 0;  // a bit for each queue with messages; all of them when the peer is lost
  uint32_t queue_mask = 0;           // queues - 1
  SendQueue first_queue;
  SendQueue* queues = &first_queue;
  Peer* made_before = nullptr;

  // Whether what is sent to that lane of the peer has to go behind others.
  bool queues_on(uint32_t lane) const {
    return (queued.load(std::memory_order_acquire) >> (lane & queue_mask) & 1) != 0;
  }

  void open_way();
  void close_way() {
    open.store(nullptr, std::memory_order_relaxed);
    wide.store(nullptr, std::memory_order_relaxed);
  }
};

// The peers by job rank. An entry is how far the peer lies from the stranger, who stands for all that are not known
// yet: so memory that nobody has written to, which costs nothing however large the job, is a table of strangers.
class PeerTable {
 public:
  // Ends the process with a message when there is no address space.
  void open(int32_t ranks);
  void close();

  static Peer stranger;  // its way is never open

  Peer* find(int32_t rank) const {  // acquire pairs with the release in set()
    return reinterpret_cast<Peer*>(reinterpret_cast<uintptr_t>(&stranger) +
                                   entries_[rank].load(std::memory_order_acquire));
  }
  void set(int32_t rank, Peer* peer) {
    entries_[rank].store(reinterpret_cast<uintptr_t>(peer) - reinterpret_cast<uintptr_t>(&stranger),
                         std::memory_order_release);
  }

 private:
  std::atomic<uintptr_t>* entries_ = nullptr;
  size_t bytes_ = 0;
};

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
  bool hosts_left = false;     // the ranks of all hosts have met at the end
  uint32_t mailbox_limit = 0;  // E0 up to here
  PeerTable peers;
  Peer* last_made = nullptr;     // of those contacted, from which made_before leads to the others
  Request* done_send = nullptr;  // what a send that left at once gives its caller
  transport::Transports transports;
  std::atomic<uint64_t> queues_waiting = 0;  // a bit for each of them that has messages
  base::Lock connect_lock;
  ThreadList threads;
  Waits waits;
  Lanes lanes;
  SendQueues send_queues[transport::max_lanes];

  Peer& peer(int32_t job_rank) {
    Peer* p = peers.find(job_rank);
    return p != &PeerTable::stranger ? *p : *connect(job_rank);
  }
  // Makes and ends everything but the transports to other ranks, which are the caller's: they are set after open(), and
  // live until close() has returned. The world must be the current one (core::world).
  void open(const Config& config);
  void close();
  void set_congested(bool on);
  // The process that had this place has left the job: no operation and no message is under way with it.
  void forget(int32_t job_rank);

 private:
  Peer* connect(int32_t job_rank);
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
