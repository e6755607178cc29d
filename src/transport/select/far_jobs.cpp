// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/select/far_jobs.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "boot/connect/address_exchange.hpp"
#include "boot/connect/job_number.hpp"
#include "boot/job/notes.hpp"
#include "transport/api/failure.hpp"
#include "transport/select/hosts.hpp"

namespace weft::transport::net {
namespace {

// The transport that is being opened appends the values that it publishes here.
constinit std::string* publication = nullptr;

void publish(const std::string& key, const std::string& value) {
  publication->append(boot::entry_of(key, value));
}

std::string published(int rank, const std::string& key) {
  return boot::known_address(rank, key);
}

constexpr size_t longest = 1024;

}  // namespace

FarJobs::FarJobs(int first, int block) : first_(first), block_(block), all_(epoll_create1(EPOLL_CLOEXEC)) {
  static_assert(most == boot::far_jobs);
  if (all_) return;
  fail_for_good({.cause = "no epoll descriptor can be had: " + text_of_error(errno),
                 .remedy = "see ulimit -n for the number of open files"});
}

FarJobs::~FarJobs() {
  for (std::atomic<Transport*>& way : ways_) delete way.load(std::memory_order_relaxed);
}

std::string FarJobs::add(const FarJob& job, LaneMap lanes) {
  std::string said;
  publication = &said;
  const int side = block_;
  Transport* const made = open_to_job({.rank = job.senior ? job.place : side + job.place,
                                       .ranks = 2 * side,
                                       .lanes = lanes,
                                       .secret = job.secret,
                                       .sleeps = job.sleeps,
                                       .directory = {publish, published, longest, [] {}},
                                       .threads = job.threads,
                                       .late = true,
                                       .side = static_cast<uint32_t>(side),
                                       .renumber = job.first ^ (job.senior ? side : 0)});
  publication = nullptr;
  if (const int descriptor = made->wait_descriptor(); descriptor >= 0) {
    epoll_event event = {};
    event.events = EPOLLIN;
    (void)epoll_ctl(all_.descriptor(), EPOLL_CTL_ADD, descriptor, &event);
  }
  const size_t index = index_of(job.first);
  ways_[index].store(made, std::memory_order_release);
  end_.store(std::max(end_.load(std::memory_order_relaxed), index + 1), std::memory_order_release);
  return said;
}

void FarJobs::drop(int first) {
  delete ways_[index_of(first)].exchange(nullptr, std::memory_order_acq_rel);
}

Transport* FarJobs::to(int rank) const {
  const size_t index = rank < first_ ? most : index_of(rank);
  return index < most ? ways_[index].load(std::memory_order_acquire) : nullptr;
}

int FarJobs::poll(uint32_t lane, Sink sink) {
  int told = 0;
  const size_t end = end_.load(std::memory_order_acquire);
  for (size_t i = 0; i < end; ++i) {
    if (Transport* const way = ways_[i].load(std::memory_order_acquire)) told += way->poll(lane, sink);
  }
  return told;
}

void FarJobs::set_congested(bool on) {
  for (std::atomic<Transport*>& each : ways_) {
    if (Transport* const way = each.load(std::memory_order_acquire)) way->set_congested(on);
  }
}

bool FarJobs::may_sleep() {
  return std::all_of(ways_.begin(), ways_.end(), [](std::atomic<Transport*>& each) {
    Transport* const way = each.load(std::memory_order_acquire);
    return way == nullptr || way->may_sleep();
  });
}

bool FarJobs::all_sent() const {
  return std::all_of(ways_.begin(), ways_.end(), [](const std::atomic<Transport*>& each) {
    const Transport* const way = each.load(std::memory_order_acquire);
    return way == nullptr || way->all_sent();
  });
}

void FarJobs::leave() {
  for (std::atomic<Transport*>& each : ways_) {
    if (Transport* const way = each.load(std::memory_order_acquire)) way->leave();
  }
}

}  // namespace weft::transport::net
