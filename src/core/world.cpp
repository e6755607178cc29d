// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/world.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/message.hpp"
#include "boot/status.hpp"
#include "core/p2p.hpp"
#include "core/protocol/protocol.hpp"
#include "core/settings.hpp"
#include "transport/mock/transport.hpp"
#include "transport/self/transport.hpp"
#include "transport/shm/transport.hpp"

namespace weft::core {

World world;

namespace {

transport::shm::ShmTransport* shared_memory = nullptr;
void* header = nullptr;  // the launcher's view of the job: boot/status.hpp

void map_header() {
  header =
      mmap(nullptr, boot::job_header_bytes(world.size), PROT_READ | PROT_WRITE, MAP_SHARED, world.job.segment_fd, 0);
  if (header == MAP_FAILED) {
    base::die({.cause = "cannot map the head of the job's shared memory",
               .error = errno,
               .remedy = "raise the limit on address space (ulimit -v)"});
  }
}

}  // namespace

void start() {
  world.job = boot::join(transport::shm::segment_bytes);
  world.rank = world.job.rank;
  world.size = world.job.size;
  world.peers = new (std::nothrow) Peer*[static_cast<size_t>(world.size)];
  if (world.peers == nullptr) {
    base::die({.cause = "no memory for a table of " + std::to_string(world.size) + " ranks",
               .remedy = "free memory on this host"});
  }
  std::fill_n(world.peers, world.size, &world.stranger);
  world.mailbox_limit = static_cast<uint32_t>(mailbox_bytes(world.size));
  world.buffer_limit = buffer_bytes();
  world.self = new transport::self::SelfTransport(on_arrival);
  shared_memory = new transport::shm::ShmTransport(world.rank, world.size, world.job.segment_fd);
  if (world.size > 1) world.host = transport::mock::wrap_if_asked(shared_memory);
  if (world.host == shared_memory) world.ring = &shared_memory->ring();
  Backoff::tune(world.job.local_ranks, world.job.local_cpus);
  world.done_send = base::make_object<Request>();
  if (world.done_send == nullptr) {
    base::die({.cause = "no memory for the runtime's first objects", .remedy = "free memory on this host"});
  }
  world.done_send->kind = base::Kind::request;
  world.done_send->done = true;
  world.done_send->flags = {.active = true, .shared = true};
  world.done_send->source = proc_null;
  world.done_send->tag = any_tag;
  map_header();
  boot::set_phase(header, world.rank, boot::Phase::initialised);
  world.running = true;
}

void stop() {
  Lane& lane = world.lane;
  wait_until([&] { return lane.sends_open == 0 && lane.peers_waiting == nullptr; });
  world.running = false;
  boot::leave(world.job);
  boot::set_phase(header, world.rank, boot::Phase::finalized);
  munmap(header, boot::job_header_bytes(world.size));
  for (int32_t rank = 0; rank < world.size; ++rank) {
    Peer* peer = world.peers[rank];
    if (peer == &world.stranger) continue;
    if (peer->transport != world.self) delete peer->endpoint;
    delete peer;
  }
  delete[] world.peers;
  world.peers = nullptr;
  while (Unexpected* u = lane.matcher.first_unexpected()) {  // sent, and never received
    lane.matcher.remove(u);
    free_unexpected(u);
  }
  while (Unexpected* u = lane.free_unexpected) {
    lane.free_unexpected = u->next;
    std::free(u);
  }
  if (world.host != shared_memory) delete world.host;  // the mock in front of it
  world.host = nullptr;
  world.ring = nullptr;
  delete shared_memory;
  shared_memory = nullptr;
  delete world.self;
  world.self = nullptr;
}

Peer* World::connect(int32_t job_rank) {
  auto* made = new Peer;
  made->rank = job_rank;
  made->transport = job_rank == rank ? self : host;
  made->endpoint = made->transport->connect(job_rank);
  if (made->transport == shared_memory) {  // not behind the mock
    made->near = static_cast<transport::shm::ShmEndpoint*>(made->endpoint);
    made->open = made->near;
  }
  peers[job_rank] = made;
  return made;
}

Request* Lane::grow() {
  constexpr size_t slab = 64;
  auto* fresh = static_cast<Request*>(base::Arena::allocate(slab * sizeof(Request)));
  if (fresh == nullptr) return nullptr;
  slabs.push_back(fresh);
  for (size_t i = slab; i-- > 0;) {
    ::new (fresh + i) Request();
    give_request(fresh + i);
  }
  return take_request();
}

bool Lane::any_request(const std::function<bool(const Request&)>& asked) const {
  constexpr size_t slab = 64;
  for (const Request* requests : slabs) {
    for (size_t i = 0; i < slab; ++i) {
      if (requests[i].kind == base::Kind::request && asked(requests[i])) return true;
    }
  }
  return false;
}

void* allocate_shared(size_t bytes) {
  return shared_memory->allocate(bytes);
}

bool release_shared(void* memory) {
  return shared_memory->release(memory);
}

}  // namespace weft::core
