// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/dynamic/processes.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <set>
#include <vector>

#include "base/lock.hpp"
#include "boot/connect/address_exchange.hpp"
#include "boot/connect/ties.hpp"
#include "boot/job/status.hpp"
#include "core/dynamic/meeting.hpp"
#include "core/message/handler.hpp"
#include "core/message/send_queue.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/waiting.hpp"

namespace weft::core {
namespace {

// Communicators that we share with the process of each place; made with the first of another world.
constinit base::Lock processes_lock;
constinit std::vector<int32_t>* shared_communicators = nullptr;
constinit int32_t tied = 0;  // places of this host with any
// Processes of other hosts: `afar` are those that we ever had communicators with, `leaving` those that have said that
// they leave.
constinit std::set<int32_t>* afar = nullptr;
constinit std::set<int32_t>* leaving = nullptr;

bool is_afar(int32_t job_rank) {
  return job_rank < identity->places && identity->job.place_here(job_rank) < 0;
}

bool said_to_leave(int32_t job_rank) {
  const std::lock_guard guard(processes_lock);
  return leaving != nullptr && leaving->contains(job_rank);
}

boot::Phase phase_of(int32_t job_rank) {
  if (is_afar(job_rank)) return said_to_leave(job_rank) ? boot::Phase::finalized : boot::Phase::initialised;
  const boot::RankStatus* const line = line_of(job_rank);
  return line == nullptr ? boot::Phase::lost : static_cast<boot::Phase>(line->phase.load(std::memory_order_acquire));
}

void write_tie(int32_t job_rank, bool on) {
  if (is_afar(job_rank)) {
    if (afar == nullptr) afar = new std::set<int32_t>;
    afar->insert(job_rank);
    return;
  }
  const boot::Ties ties(identity->job.segment, identity->places_here(), identity->job.started_here());
  const int32_t ours = identity->place_here();
  const int32_t theirs = identity->job.place_here(job_rank);
  if (on ? ties.tie(ours, theirs) : ties.cut(ours, theirs)) return;
  failed(FailureCause::memory, {.cause = "cannot note in the job's shared memory that processes are connected",
                                .error = errno,
                                .remedy = "free memory on this host, or raise the job's memory limit"});
}

// More processes share this host's processors than at the start.
void tune_waits() {
  Backoff::tune(identity->job.local_ranks + tied, identity->job.local_cpus);
}

// The lock is held.
void count_communicators(int32_t job_rank, int32_t by) {
  if (job_rank >= identity->places) {
    if (share_with_other(job_rank, by) && !is_far(job_rank)) tied += by;
    return tune_waits();
  }
  int32_t& communicators = (*shared_communicators)[static_cast<size_t>(job_rank)];
  const bool before = communicators != 0;
  communicators += by;
  const bool after = communicators != 0;
  if (before == after) return;
  write_tie(job_rank, after);
  if (!is_afar(job_rank)) tied += by;
  tune_waits();
}

bool has_foreign(const Group& group) {
  if (!identity->job.can_grow()) return false;
  if (group.table.empty() && group.stride == 1) {
    return group.size > 0 && (is_foreign(group.first) || is_foreign(group.first + group.size - 1));
  }
  for (int32_t r = 0; r < group.size; ++r) {
    if (is_foreign(group.job_rank(r))) return true;
  }
  return false;
}

}  // namespace

bool is_foreign_afar(int32_t job_rank) {
  return is_foreign(job_rank) && is_afar(job_rank);
}

bool has_parted(int32_t job_rank) {
  if (job_rank < 0 || !is_foreign_afar(job_rank)) return false;
  const std::lock_guard guard(processes_lock);
  return shared_communicators == nullptr || (*shared_communicators)[static_cast<size_t>(job_rank)] == 0;
}

bool is_foreign(int32_t job_rank) {
  return static_cast<uint32_t>(job_rank - identity->first) >= static_cast<uint32_t>(identity->size);
}

bool is_there(int32_t job_rank, uint32_t generation) {
  const boot::Phase phase = phase_of(job_rank);
  return generation_of(job_rank) == generation && phase != boot::Phase::finalized && phase != boot::Phase::left &&
         phase != boot::Phase::lost;
}

bool has_gone(int32_t job_rank) {
  const boot::RankStatus* const line = line_of(job_rank);
  if (line == nullptr) return true;
  const auto phase = static_cast<boot::Phase>(line->phase.load(std::memory_order_acquire));
  return phase == boot::Phase::left || phase == boot::Phase::lost;
}

bool knows_way_to(int32_t job_rank) {
  const bool told = identity->first == 0 && job_rank < identity->job.started;
  return told || !is_afar(job_rank) || boot::has_addresses(job_rank);
}

void meet(int32_t job_rank) {
  const Peer* known = peers->find(job_rank);
  if (known != &PeerTable::unconnected && known->generation != generation_of(job_rank)) forget_peer(job_rank);
}

bool tie(const Group& group) {
  if (!has_foreign(group)) return false;
  std::lock_guard guard(processes_lock);
  if (shared_communicators == nullptr)
    shared_communicators = new std::vector<int32_t>(static_cast<size_t>(identity->places));
  for (int32_t r = 0; r < group.size; ++r) {
    const int32_t job_rank = group.job_rank(r);
    if (!is_foreign(job_rank)) continue;
    meet(job_rank);
    count_communicators(job_rank, 1);
  }
  return true;
}

void untie(const Group& group) {
  std::lock_guard guard(processes_lock);
  for (int32_t r = 0; r < group.size; ++r) {
    if (is_foreign(group.job_rank(r))) count_communicators(group.job_rank(r), -1);
  }
}

namespace {

// Between hosts there is no line to look at: a process that leaves says so to those of other worlds and hosts that it
// has a communicator with.
constexpr uint8_t leaving_kind = 21;

constinit const Handler leaving_handler{.kind = leaving_kind,
                                        .least_bytes = sizeof(int32_t),
                                        .name = "leave of a process of another world",
                                        .take = [](const transport::Arrival& a) {
                                          const std::lock_guard guard(processes_lock);
                                          if (leaving == nullptr) leaving = new std::set<int32_t>;
                                          leaving->insert(payload_of<int32_t>(a));
                                        }};
WEFT_HANDLER(leaving_handler);

void say_that_we_leave() {
  std::vector<int32_t> all;
  {
    const std::lock_guard guard(processes_lock);
    if (afar != nullptr) all.assign(afar->begin(), afar->end());
  }
  for (const int32_t rank : all) {
    if (!has_parted(rank)) send_control(peers->of(rank), 0, leaving_kind, &identity->rank, sizeof identity->rank);
  }
}

bool those_afar_leave() {
  const std::lock_guard guard(processes_lock);
  if (afar == nullptr) return true;
  return std::all_of(afar->begin(), afar->end(), [](int32_t rank) {
    return (*shared_communicators)[static_cast<size_t>(rank)] == 0 || (leaving != nullptr && leaving->contains(rank));
  });
}

}  // namespace

void leave_together() {
  if (!identity->job.can_grow()) return;
  boot::RankStatus& ours = identity->line_at(identity->place_here());
  ours.phase.store(static_cast<uint32_t>(boot::Phase::leaving), std::memory_order_release);
  say_that_we_leave();
  const bool grown = identity->line_at(0).grown.load(std::memory_order_acquire) != 0;
  if (!grown && those_afar_leave() && others_leave()) return;  // nobody is of another world
  const boot::Ties ties(identity->job.segment, identity->places_here(), identity->job.started_here());
  const auto stays = [](int32_t place) {
    const int32_t job_rank = identity->job.rank_at(place);
    const boot::Phase phase = phase_of(job_rank);
    return is_foreign(job_rank) && (phase == boot::Phase::started || phase == boot::Phase::initialised);
  };
  const auto all_leave = [&] {
    if (!others_leave() || !those_afar_leave()) return false;
    const std::vector<int> connected = ties.connected_with(identity->place_here());
    return std::none_of(connected.begin(), connected.end(), stays);
  };
  while (!all_leave()) {
    constexpr timespec shortly{0, 500000};
    for (int round = 0; round < 100; ++round) (void)progress();
    nanosleep(&shortly, nullptr);
  }
  while (progress()) {
  }
}

}  // namespace weft::core
