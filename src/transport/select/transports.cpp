// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/select/transports.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/setting.hpp"
#include "boot/connect/job_number.hpp"
#include "transport/api/failure.hpp"
#include "transport/api/memory.hpp"
#include "transport/mock/transport.hpp"
#include "transport/net/lifeline.hpp"
#include "transport/net/reading.hpp"
#include "transport/select/far_jobs.hpp"
#include "transport/select/shared.hpp"
#include "transport/self/transport.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/other_jobs.hpp"
#include "transport/shm/watch.hpp"

namespace weft::transport {
namespace {

constinit base::IntSetting lost_after{
    {.name = "WEFT_LOST_AFTER",
     .help = "a host that nothing is heard from for so long is lost, and the job with it; 0: hosts are not watched",
     .unit = base::Unit::seconds,
     .level = base::SettingLevel::basic,
     .subject = base::Subject::general,
     .alike = true},
    30,
    {0, 86400}};
WEFT_SETTING(lost_after);

// The neighbours of a rank that is the first of its host; the others need none.
net::TreeNeighbours neighbour_hosts(int rank, int place, const HostsOpening& opening) {
  if (place != 0) return {};
  const std::vector<int> first = opening.first_ranks();
  const auto own = std::lower_bound(first.begin(), first.end(), rank) - first.begin();
  return net::neighbours_of(static_cast<size_t>(own), first);
}

// Ends the sleep of a rank of this host, for one thread.
std::function<void(int place)> waker(shm::ShmTransport& memory, int own, const std::vector<int>& here) {
  return [&memory, own, here, ways = std::vector<Endpoint*>(here.size())](int place) mutable {
    if (place == own) return memory.wake();
    Endpoint*& way = ways[static_cast<size_t>(place)];
    if (way == nullptr) way = memory.connect(here[static_cast<size_t>(place)]);
    if (way != nullptr && way->sleeps()) way->rouse();
  };
}

// The ranks of this host, which share an endpoint.
relay::Host sharing_host(shm::ShmTransport& memory, int rank, int ranks, int place) {
  std::vector<int> here;
  for (int i = 0; i < ranks; ++i) {
    if (i == rank || memory.reaches(i)) here.push_back(i);
  }
  return {.segment = memory.segment(),
          .offset = shm::segment_bytes(static_cast<int>(here.size())),
          .place = place,
          .here = here,
          .buffers = buffers_of_host(),
          .wake = waker(memory, place, here)};
}

}  // namespace

size_t segment_bytes(int places) {
  const size_t bytes = shm::segment_bytes(places);
  return shares_endpoints() ? bytes + relay::layout_for(places, buffers_of_host()).total : bytes;
}

void Transports::add(Transport* transport) {
  if (sleeper_ == nullptr && transport->capabilities().wakes) sleeper_ = transport;
  // The last of the list of those to poll stays nullptr: one of all is this process itself.
  const size_t count = count_.load(std::memory_order_relaxed);
  list_[count] = transport;
  count_.store(count + 1, std::memory_order_release);
  if (transport->capabilities().same_process || transport == inlined_ || transport == other_jobs_) return;
  size_t at = 0;
  while (polled_[at].load(std::memory_order_relaxed) != nullptr) ++at;
  polled_[at].store(transport, std::memory_order_release);
}

// A rank that is alone has shared memory, to allocate from, and nobody to send to.
void Transports::open(const HostOpening& opening) {
  rank_ = opening.rank;
  ranks_ = opening.ranks;
  place_ = opening.place;
  lanes_ = opening.lanes;
  add(new self::SelfTransport(opening.own_sink, opening.rank, opening.lanes));
  memory_ = new shm::ShmTransport(opening.place, opening.places, opening.segment, opening.lanes, opening.place_of,
                                  opening.generation);
  if (opening.ranks == 1) return;
  if (opening.watched > 1) {
    const auto rank_at = [place_of = opening.place_of, ranks = opening.ranks](int place) {
      int rank = 0;
      while (rank < ranks && place_of(rank) != place) ++rank;
      return rank;
    };
    watch_ = new shm::ProcessWatch(opening.place, opening.watched, opening.places, opening.segment, rank_at);
  }
  Transport* const seen = mock::wrap_if_asked(memory_);
  if (seen == memory_) inlined_ = memory_;
  add(seen);
  if (opening.block != 0) add(other_jobs_ = new shm::OtherJobs(*memory_, opening.block));
}

void Transports::open_hosts(const HostsOpening& opening) {
  if (lost_after.value() != 0 && !opening.late) {
    lifelines_ = new net::Lifelines({.rank = rank_,
                                     .ranks = ranks_,
                                     .keeper = opening.first_here,
                                     .neighbours = neighbour_hosts(rank_, place_, opening),
                                     .host = opening.host,
                                     .secret = opening.secret,
                                     .lost_after = static_cast<int>(lost_after.value()),
                                     .directory = opening.directory,
                                     .page = opening.page});
  }
  const net::Opening to_hosts{.rank = rank_,
                              .ranks = ranks_,
                              .lanes = lanes_,
                              .secret = opening.secret,
                              .sleeps = opening.sleeps,
                              .directory = opening.directory,
                              .threads = opening.threads,
                              .late = opening.late};
  Transport* const others = shares_endpoints()
                                ? net::open_shared(to_hosts, sharing_host(*memory_, rank_, ranks_, place_))
                                : net::open(to_hosts);
  if (lifelines_ != nullptr) lifelines_->meet();
  if (const int descriptor = others->wait_descriptor(); descriptor >= 0) sleeper_->wake_on(descriptor);
  add(others);
}

// A mock goes before what it stands in front of.
void Transports::close() {
  for (Transport* transport : all()) {
    if (transport != memory_) delete transport;
  }
  delete std::exchange(watch_, nullptr);
  delete memory_;
  std::fill(std::begin(list_), std::end(list_), nullptr);
  for (std::atomic<Transport*>& polled : polled_) polled.store(nullptr, std::memory_order_relaxed);
  count_.store(0, std::memory_order_relaxed);
  sleeper_ = nullptr;
  memory_ = inlined_ = nullptr;
  other_jobs_ = nullptr;
  far_jobs_ = nullptr;
}

Transport& Transports::to(int rank) const {
  for (Transport* transport : all()) {
    if (transport->reaches(rank)) return rank < boot::first_far_rank ? *transport : *far_jobs_->to(rank);
  }
  fail_for_good({.cause = "no transport leads to rank " + std::to_string(rank),
                 .remedy = "this is a defect of Weft: please report it with the program"});
}

Transport& Transports::memory() const {
  return *memory_;
}

MemoryRef Transports::name_memory(void* memory, size_t bytes) const {
  if (sleeper_ != nullptr) return sleeper_->register_memory(memory, bytes, Access::named);
  return {reinterpret_cast<uint64_t>(memory), MemoryRef::no_key};
}

inlined::RingReader* Transports::inlined_ring(uint32_t lane) const {
  return inlined_ != nullptr ? &inlined_->ring(lane) : nullptr;
}

bool Transports::add_job(int first, int places, int segment) const {
  return other_jobs_->add(first, places, segment);
}

void Transports::drop_job(int first) const {
  other_jobs_->drop(first);
}

std::string Transports::add_far_job(const FarJob& job) {
  if (far_jobs_ == nullptr) {
    auto* const made = new net::FarJobs(boot::first_far_rank, boot::most_places_of_a_job);
    far_jobs_ = made;
    if (sleeper_ != nullptr) sleeper_->wake_on(made->wait_descriptor());
    add(made);
  }
  return far_jobs_->add(job, lanes_);
}

void Transports::drop_far_job(int first) const {
  far_jobs_->drop(first);
}

inlined::Endpoint* Transports::inlined_way(const Transport& transport, Endpoint* endpoint) const {
  const bool inlines = inlined_ != nullptr && (&transport == inlined_ || &transport == other_jobs_);
  return inlines ? static_cast<inlined::Endpoint*>(endpoint) : nullptr;
}

bool Transports::wakes_all() const {
  return std::all_of(all().begin(), all().end(), [](Transport* transport) {
    const Capabilities& can = transport->capabilities();
    return can.same_process || can.wakes || transport->wait_descriptor() >= 0;
  });
}

bool Transports::may_sleep() const {
  return std::all_of(all().begin(), all().end(), [](Transport* transport) { return transport->may_sleep(); });
}

bool Transports::all_sent() const {
  return std::all_of(all().begin(), all().end(), [](Transport* transport) { return transport->all_sent(); });
}

void Transports::leave() {
  for (Transport* transport : all()) transport->leave();
}

void Transports::resume() {
  for (Transport* transport : all()) transport->resume();
}

void Transports::look() {
  if (lifelines_ != nullptr) lifelines_->look();
  if (watch_ != nullptr) watch_->look();
}

void Transports::say_goodbye() {
  if (lifelines_ != nullptr) lifelines_->say_goodbye();
  delete std::exchange(lifelines_, nullptr);
}

std::string describe_hosts(bool rendezvous, int64_t read_most) {
  const std::string none = "none by R0 ";
  if (!rendezvous) return none + "(WEFT_RENDEZVOUS=off)";
  if (net::reading_is_off()) return none + "(WEFT_RDMA=off)";
  const int64_t tcp = net::read_from(net::tcp_reads_from), adapters = net::read_from(net::adapters_read_from);
  if (read_most < tcp) return none + "(WEFT_R0_LIMIT is below WEFT_RDMA_FROM)";
  return "by R0 from " + std::to_string(tcp) + " bytes on over TCP, from " + std::to_string(adapters) +
         " through UCX and " +
         (net::read_by(false) ? "libfabric (WEFT_RDMA=on)" : "where libfabric's adapters read by themselves") +
         "; others by R1";
}

}  // namespace weft::transport
