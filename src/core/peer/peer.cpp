// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/peer/peer.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <utility>

#include "base/object.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "core/object/request.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {

constinit Peer PeerTable::unconnected;

namespace {

void delete_peer(Peer* peer) {
  if (peer->queues != &peer->first_queue) delete[] peer->queues;
  delete peer->stamps;
  delete peer;
}

}  // namespace

void PeerTable::open(int32_t ranks) {
  bytes_ = static_cast<size_t>(ranks) * sizeof *entries_;
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    failed(FailureCause::start, {.cause = "no address space for a table of " + std::to_string(ranks) + " ranks",
                                 .error = errno,
                                 .remedy = "raise the limit on address space (ulimit -v)"});
  }
  (void)madvise(memory, bytes_, MADV_NOHUGEPAGE);  // a peer costs a page here, not 2 MiB
  entries_ = static_cast<std::atomic<uintptr_t>*>(memory);
}

void PeerTable::close() {
  munmap(entries_, bytes_);
  entries_ = nullptr;
}

Peer* Peers::connect(int32_t job_rank) {
  std::lock_guard guard(connect_lock);
  if (Peer* known = find(job_rank); known != &PeerTable::unconnected) return known;
  auto* made = new Peer;
  made->rank = job_rank;
  made->our_rank = numbered_by(job_rank, identity->rank);
  made->generation = generation_of(job_rank);
  made->transport = &transports.to(job_rank);
  made->endpoint = made->transport->connect(job_rank);
  if (made->endpoint == nullptr)
    failed(FailureCause::peer, job_rank, {.cause = "there is no way to rank " + std::to_string(job_rank)});
  made->lane_map = made->endpoint->lanes();
  if (made->lane_map.mask != 0) made->stamps = new Stamps;
  made->counts = made->lane_map.parts() && !made->transport->capabilities().drains;
  made->near = transports.inlined_way(*made->transport, made->endpoint);
  if (made->near != nullptr) {
    made->open_way();
  } else if (made->lane_map.mask != 0 && (made->counts || !made->lane_map.parts())) {
    made->queue_mask = made->lane_map.mask;
    made->queues = new SendQueue[made->lane_map.lanes()];
  }
  made->made_before = std::exchange(last_made, made);
  table.set(job_rank, made);
  return made;
}

void Peers::forget(int32_t job_rank) {
  std::lock_guard guard(connect_lock);
  Peer* const gone = find(job_rank);
  if (gone == &PeerTable::unconnected) return;
  table.set(job_rank, &PeerTable::unconnected);
  for (Peer** at = &last_made; *at != nullptr; at = &(*at)->made_before) {
    if (*at != gone) continue;
    *at = gone->made_before;
    break;
  }
  gone->transport->forget(job_rank);
  delete_peer(gone);
}

void Peer::open_way() {
  if (peers->mailbox_limit < tiny_bytes) return;  // the inlined route does not look at the limit
  // The program's threads take turns on it; a progress thread writes into the same ring, and counts for itself.
  const bool plain = !threads->multiple && lane_map.mask == 0;
  (plain ? open : wide).store(near, std::memory_order_relaxed);
}

void Peers::open(int32_t ranks) {
  table.open(ranks);
  done_send = base::make_object<Request>();
  if (done_send == nullptr) {
    failed(FailureCause::start,
           {.cause = "no memory for the runtime's first objects", .remedy = "free memory on this host"});
  }
  done_send->kind = base::Kind::request;
  done_send->done = true;
  done_send->flags = {.active = true, .shared = true};
  done_send->source = proc_null;
  done_send->tag = any_tag;
}

void Peers::close() {
  while (Peer* peer = last_made) {
    last_made = peer->made_before;
    delete_peer(peer);
  }
  table.close();
}

void Peers::set_congested(bool on) {
  for (transport::Transport* t : transports.all()) t->set_congested(on);
}

}  // namespace weft::core
