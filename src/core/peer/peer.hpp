// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The processes that this one talks to, by their rank in the job, and the transports that reach them.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/lock.hpp"
#include "core/thread/stamp.hpp"
#include "transport/api/transport.hpp"
#include "transport/select/transports.hpp"

namespace weft::core {

struct Request;

// The capacity of one cell of the ring.
inline constexpr int64_t tiny_bytes = transport::inlined::cell_bytes;

// A message that found the way full: a request, or a protocol message we keep a copy of.
struct WaitingMessage;
struct Peer;

// The messages to one peer, in order. The lock of its SendQueues is held.
struct SendQueue {
  WaitingMessage* first = nullptr;
  WaitingMessage* last = nullptr;
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
  // The peer's rings while small messages may go straight into them: it is on this host, nothing waits for space, and
  // it has not asked for envelopes only. Otherwise nullptr, and sends take the general way. `open` when both sides have
  // one lane and one thread at a time, `wide` in all other cases.
  std::atomic<transport::inlined::Endpoint*> open = nullptr;
  std::atomic<transport::inlined::Endpoint*> wide = nullptr;
  transport::inlined::Endpoint* near = nullptr;  // the value of the open one
  transport::Endpoint* endpoint = nullptr;
  transport::Transport* transport = nullptr;
  transport::LaneMap lane_map;
  Stamps* stamps = nullptr;  // when the peer has several lanes
  bool counts = false;       // messages to it have numbers instead of stamps: core/lane/sequence_numbers.hpp
  int32_t rank = -1;
  int32_t our_rank = -1;               // as the peer numbers ours: core/object/other_jobs.hpp
  uint32_t generation = 0;             // of the process that it stands for: core/dynamic/processes.hpp
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

// The peers by job rank. An entry is how far the peer lies from `unconnected`, which stands for all that are not known
// yet: so memory that nobody has written to, which costs nothing however large the job, is a table of unconnected
// peers.
class PeerTable {
 public:
  // Ends the process with a message when there is no address space.
  void open(int32_t ranks);
  void close();

  static Peer unconnected;  // its way is never open

  Peer* find(int32_t rank) const {  // acquire pairs with the release in set()
    return reinterpret_cast<Peer*>(reinterpret_cast<uintptr_t>(&unconnected) +
                                   entries_[rank].load(std::memory_order_acquire));
  }
  void set(int32_t rank, Peer* peer) {
    entries_[rank].store(reinterpret_cast<uintptr_t>(peer) - reinterpret_cast<uintptr_t>(&unconnected),
                         std::memory_order_release);
  }

 private:
  std::atomic<uintptr_t>* entries_ = nullptr;
  size_t bytes_ = 0;
};

struct Peers {
  PeerTable table;
  Peer* last_made = nullptr;     // of those contacted, from which made_before leads to the others
  uint32_t mailbox_limit = 0;    // E0 up to here
  Request* done_send = nullptr;  // the request of all sends that left at once
  transport::Transports transports;
  std::atomic<uint64_t> queues_waiting = 0;  // a bit for each of them that has messages
  base::Lock connect_lock;
  SendQueues send_queues[transport::max_lanes];

  // The result is `PeerTable::unconnected` for a peer that is not known yet.
  Peer* find(int32_t job_rank) const { return table.find(job_rank); }
  // Makes the way to the peer where there is none. Thread-safe.
  Peer& of(int32_t job_rank) {
    Peer* p = find(job_rank);
    return p != &PeerTable::unconnected ? *p : *connect(job_rank);
  }
  // This is for forget_peer() (core/message/send_queue.hpp).
  void forget(int32_t job_rank);
  void set_congested(bool on);
  // Opens the table for so many ranks. The transports are the caller's: they are set after open(), and live until
  // close() has returned.
  void open(int32_t ranks);
  void close();

 private:
  Peer* connect(int32_t job_rank);
};

// It points into the current world (core/runtime/world.hpp).
[[gnu::visibility("hidden")]] extern Peers* peers;

}  // namespace weft::core
