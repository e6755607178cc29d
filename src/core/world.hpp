// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The runtime of one process: who it is, its lanes, its peers, its transports. One object, made by start() and ended by
// stop(); everything below MPI's objects hangs from it.

#include <cstdint>
#include <functional>
#include <vector>

#include "boot/job.hpp"
#include "core/match.hpp"
#include "core/request.hpp"
#include "transport/api/transport.hpp"
#include "transport/shm/transport.hpp"

namespace weft::core {

// Messages and bytes sent per path; see docs/architecture.md for the paths.
enum class Path : uint8_t { mailbox, buffer, get, stream };
inline constexpr int path_count = 4;
inline constexpr const char* path_names[path_count] = {"E0 mailbox", "E1 buffer", "R0 get", "R1 stream"};

struct PathCount {
  uint64_t messages = 0;
  uint64_t bytes = 0;
};

struct Counters {
  PathCount sent[path_count];
  uint64_t unexpected = 0;  // messages that came before their receive
  uint64_t retries = 0;     // sends that found the way full
  uint64_t sleeps = 0;      // waits that ended in the kernel
};

// A message that found the way full: a request, or a protocol message we keep a copy of.
struct Waiting;

struct Peer {
  // The peer's ring while small messages may go straight into it: it is on this host, nothing waits for room, and it
  // has not asked for envelopes only. Otherwise nullptr, and sends take the general way.
  transport::shm::ShmEndpoint* open = nullptr;
  transport::shm::ShmEndpoint* near = nullptr;  // what `open` is when it is open
  transport::Endpoint* endpoint = nullptr;
  Waiting* waiting = nullptr;  // in order; while there is one, whatever is sent to the peer goes behind it
  Waiting* waiting_last = nullptr;
  transport::Transport* transport = nullptr;
  Peer* next_waiting = nullptr;  // in the lane's list of peers with waiting messages
  bool listed = false;           // in that list
  bool readable = false;         // a direct read of the peer's memory has worked
  int32_t rank = -1;
};

struct Inflow;
struct Pull;
struct Push;

// An independent path through the runtime. A process below MPI_THREAD_MULTIPLE has one.
struct Lane {
  Matcher matcher;
  Request* free_requests = nullptr;
  Counters counters;
  Peer* peers_waiting = nullptr;
  Request* streams = nullptr;  // sends of path R1 with data still to move
  int64_t sends_open = 0;      // started and not complete
  Inflow* inflows = nullptr;   // receives of path R1 under way
  Pull* pulls = nullptr;       // receives of path R0 that both sides copy, oldest first
  Push* pushes = nullptr;      // sends of path R0 whose receivers let us help, newest first
  uint32_t claims_in_use = 0;  // our claim slots, a bit each
  int64_t unexpected_bytes = 0;
  bool saturated = false;
  Unexpected* free_unexpected = nullptr;  // small ones, kept for reuse
  int free_unexpected_count = 0;

  Request* take_request() {
    Request* r = free_requests;
    if (r == nullptr) [[unlikely]]
      return grow();
    free_requests = r->next;
    return r;
  }
  // Whether any live request of the lane is as asked.
  bool any_request(const std::function<bool(const Request&)>& asked) const;

  void give_request(Request* r) {
    r->kind = base::Kind::free;
    r->next = free_requests;
    free_requests = r;
  }

 private:
  Request* grow();
  std::vector<Request*> slabs;
};

struct World {
  bool running = false;
  bool multiple = false;  // MPI_THREAD_MULTIPLE
  int32_t rank = 0;
  int32_t size = 1;
  uint32_t mailbox_limit = 0;  // E0 up to here
  int64_t buffer_limit = 0;    // E1 up to here
  Peer** peers = nullptr;      // by job rank, `stranger` until contacted
  Peer stranger;               // its way is never open
  Lane lane;
  Request* done_send = nullptr;                  // what a send that left at once gives its caller
  transport::Transport* host = nullptr;          // the ranks of this host
  transport::shm::RingReader<>* ring = nullptr;  // our ring there, unless the mock stands before it
  transport::Transport* self = nullptr;
  boot::Job job;

  Peer& peer(int32_t job_rank) {
    Peer* p = peers[job_rank];
    return p != &stranger ? *p : *connect(job_rank);
  }

 private:
  Peer* connect(int32_t job_rank);
};

extern World world;

// Joins the job. Ends the process with a message when it cannot.
void start();

// Completes what is still on its way and leaves the job.
void stop();

// Memory that ranks of this host reach directly (MPI_Alloc_mem), page-aligned and untouched; nullptr with errno set
// when there is none. release_shared() is false for memory that did not come from here. Thread-safe.
[[nodiscard]] void* allocate_shared(size_t bytes);
[[nodiscard]] bool release_shared(void* memory);

}  // namespace weft::core
