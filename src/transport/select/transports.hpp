// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which transports a process has: the one place that knows all of them by name. Core goes over the list, asks for
// capabilities, and takes for a peer the first transport that reaches it.
//
// Owner: core's World. Lifetime: from open() to close(); endpoints go with it. Threads: opened and closed by one. In
// between the lists grow by one at most, at the first job of another host. A process that ends without close() leaves
// them as they are.

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "boot/job/host_page.hpp"
#include "transport/api/transport.hpp"
#include "transport/inlined.hpp"
#include "transport/net/opening.hpp"

namespace weft::transport {
namespace net {
class FarJobs;
class Lifelines;
}  // namespace net
namespace shm {
class OtherJobs;
class ProcessWatch;
}  // namespace shm

// The size, which boot::join() asks for, of the shared memory of so many ranks of a host.
[[nodiscard]] size_t segment_bytes(int places);

// A process and its host.
struct HostOpening {
  int rank;
  int ranks;
  int place;                              // among the ranks of this host
  int places;                             // how many these are
  std::function<int(int rank)> place_of;  // negative: the rank is on another host
  uint32_t generation;                    // of the processes that had our place: boot/job/job.hpp
  base::Descriptor segment;               // the host's shared memory
  LaneMap lanes;
  Sink own_sink;  // for messages to ourselves, which arrive while they are sent
  int watched;    // in so many places, from the first on, processes that end are noticed: the launcher may not
  int block = 0;  // ranks of other jobs are numbered in such blocks (shm::OtherJobs); 0: there never are any
};

// How ranks of different hosts find each other.
using net::Directory;

// The means to reach other hosts.
struct HostsOpening {
  std::string secret;  // 32 hexadecimal digits that the ranks of this job alone know
  bool sleeps;         // waits sleep rather than spin: messages shall wake them, though they may take longer
  bool threads;        // several may call at the same time
  Directory directory;
  int first_here;                                 // the first rank of this host
  std::string host;                               // this one, for people
  std::function<std::vector<int>()> first_ranks;  // of all hosts, in order
  boot::HostPage* page;
  bool late = false;  // we were spawned: the others are connected already, and watch the hosts
};

class Transports {
 public:
  constexpr Transports() = default;
  Transports(const Transports&) = delete;
  Transports& operator=(const Transports&) = delete;

  void open(const HostOpening& opening);
  // A transport of the caller's making behind those that are open, for worlds without a launcher.
  void add(Transport* transport);
  // Opens the transports to ranks of other hosts; all ranks of the job do so together.
  void open_hosts(const HostsOpening& opening);
  void close();

  std::span<Transport* const> all() const { return {list_, count_.load(std::memory_order_acquire)}; }
  // The first that reaches a rank.
  Transport& to(int rank) const;

  // The transports that receive messages and are not inlined: a list that ends with nullptr.
  const std::atomic<Transport*>* polled() const { return polled_; }
  // The one whose sleep() a message ends; nullptr: no message can.
  Transport* sleeper() const { return sleeper_; }
  // The one whose allocate() gives memory that ranks of this host map.
  Transport& memory() const;
  // Jobs of this host beside ours, where HostOpening::block is not 0: shm::OtherJobs.
  bool takes_jobs() const { return other_jobs_ != nullptr; }
  [[nodiscard]] bool add_job(int first, int places, int segment) const;
  void drop_job(int first) const;
  // Jobs of other hosts. The result is how the processes of that job reach this one
  // (boot/connect/address_exchange.hpp). One thread at a time.
  [[nodiscard]] std::string add_far_job(const FarJob& job);
  // No thread polls meanwhile.
  void drop_far_job(int first) const;
  // How peers name memory of ours that they map or reach at once.
  MemoryRef name_memory(void* memory, size_t bytes) const;

  // The inlined route: nullptr where there is none, or a mock stands before it.
  inlined::RingReader* inlined_ring(uint32_t lane) const;
  inlined::Endpoint* inlined_way(const Transport& transport, Endpoint* endpoint) const;

  // Whether messages may reach us that poll() has to look for while a thread sleeps: nothing wakes it then.
  bool wakes_all() const;
  bool may_sleep() const;
  bool all_sent() const;
  // The job ends: peers go. resume(): this process sends again.
  void leave();
  void resume();

  // Failure detection: other hosts, and processes of this one, where they are watched.
  bool watches() const { return lifelines_ != nullptr || watch_ != nullptr; }
  void look();
  void say_goodbye();

 private:
  static constexpr size_t most = 4;
  Transport* list_[most] = {};
  std::atomic<size_t> count_ = 0;
  std::atomic<Transport*> polled_[most] = {};
  Transport* sleeper_ = nullptr;
  shm::ShmTransport* memory_ = nullptr;   // of this host; in the list itself, behind a mock, or alone
  shm::ShmTransport* inlined_ = nullptr;  // the same, when it is in the list itself
  shm::OtherJobs* other_jobs_ = nullptr;  // in the list itself
  net::FarJobs* far_jobs_ = nullptr;      // likewise, since the first
  net::Lifelines* lifelines_ = nullptr;   // nullptr: there are no other hosts, or they are not watched
  shm::ProcessWatch* watch_ = nullptr;    // nullptr if the launcher watches them
  int rank_ = 0, ranks_ = 1, place_ = 0;
  LaneMap lanes_;
};

// The differences between ranks of different hosts, in one sentence; with the settings of core about reading.
[[nodiscard]] std::string describe_hosts(bool rendezvous, int64_t read_most);

}  // namespace weft::transport
