// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/growth.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <vector>

#include "base/lock.hpp"
#include "boot/status.hpp"
#include "boot/ties.hpp"
#include "core/failure.hpp"
#include "core/other_jobs.hpp"
#include "core/waiting.hpp"
#include "core/world.hpp"

namespace weft::core {
namespace {

// Communicators that we share with the process of each place; made with the first of another world.
constinit base::Lock lock;
constinit std::vector<int32_t>* shared = nullptr;
constinit int32_t tied = 0;  // places with any

// The launcher's line of a rank; nullptr: of another job that we know nothing of any more.
boot::RankStatus* line_of(int32_t job_rank) {
  return job_rank < world->places ? &world->status_of(job_rank) : line_of_other(job_rank);
}

boot::Phase phase_of(int32_t job_rank) {
  const boot::RankStatus* const line = line_of(job_rank);
  return line == nullptr ? boot::Phase::lost : static_cast<boot::Phase>(line->phase.load(std::memory_order_acquire));
}

void write_tie(int32_t job_rank, bool on) {
  const boot::Ties ties(world->job.segment_fd, world->places, world->job.started);
  if (on ? ties.tie(world->rank, job_rank) : ties.cut(world->rank, job_rank)) return;
  out_of_memory({.cause = "cannot note in the job's shared memory that processes are connected",
                 .error = errno,
                 .remedy = "free memory on this host, or raise the job's memory limit"});
}

// More processes share this host's processors than at the start.
void tune_waits() {
  Backoff::tune(world->job.local_ranks + tied, world->job.local_cpus);
}

// With the lock.
void count(int32_t job_rank, int32_t by) {
  if (job_rank >= world->places) {
    if (share_with_other(job_rank, by)) tied += by;
    return tune_waits();
  }
  int32_t& communicators = (*shared)[static_cast<size_t>(job_rank)];
  const bool before = communicators != 0;
  communicators += by;
  const bool after = communicators != 0;
  if (before == after) return;
  write_tie(job_rank, after);
  tied += by;
  tune_waits();
}

bool has_foreign(const Group& group) {
  if (!world->job.can_grow()) return false;
  if (group.table.empty() && group.stride == 1) {
    return group.size > 0 && (is_foreign(group.first) || is_foreign(group.first + group.size - 1));
  }
  for (int32_t r = 0; r < group.size; ++r) {
    if (is_foreign(group.job_rank(r))) return true;
  }
  return false;
}

}  // namespace

bool is_foreign(int32_t job_rank) {
  return static_cast<uint32_t>(job_rank - world->first) >= static_cast<uint32_t>(world->size);
}

uint32_t generation_of(int32_t job_rank) {
  if (!world->job.can_grow()) return 0;
  const boot::RankStatus* const line = line_of(job_rank);
  return line != nullptr ? line->generation.load(std::memory_order_acquire) : 0;
}

bool is_there(int32_t job_rank, uint32_t generation) {
  const boot::Phase phase = phase_of(job_rank);
  return generation_of(job_rank) == generation && phase != boot::Phase::finalized && phase != boot::Phase::lost;
}

void meet(int32_t job_rank) {
  const Peer* known = world->peers.find(job_rank);
  if (known != &PeerTable::stranger && known->generation != generation_of(job_rank)) world->forget(job_rank);
}

bool tie(const Group& group) {
  if (!has_foreign(group)) return false;
  std::lock_guard guard(lock);
  if (shared == nullptr) shared = new std::vector<int32_t>(static_cast<size_t>(world->places));
  for (int32_t r = 0; r < group.size; ++r) {
    const int32_t job_rank = group.job_rank(r);
    if (!is_foreign(job_rank)) continue;
    meet(job_rank);
    count(job_rank, 1);
  }
  return true;
}

void untie(const Group& group) {
  std::lock_guard guard(lock);
  for (int32_t r = 0; r < group.size; ++r) {
    if (is_foreign(group.job_rank(r))) count(group.job_rank(r), -1);
  }
}

void leave_together() {
  if (!world->job.can_grow()) return;
  boot::RankStatus& ours = world->status_of(world->rank);
  ours.phase.store(static_cast<uint32_t>(boot::Phase::leaving), std::memory_order_release);
  const bool grown = world->status_of(0).grown.load(std::memory_order_acquire) != 0;
  if (!grown && others_leave()) return;  // nobody is of another world
  const boot::Ties ties(world->job.segment_fd, world->places, world->job.started);
  const auto stays = [](int32_t job_rank) {
    const boot::Phase phase = phase_of(job_rank);
    return is_foreign(job_rank) && (phase == boot::Phase::started || phase == boot::Phase::initialised);
  };
  const auto all_leave = [&] {
    if (!others_leave()) return false;
    const std::vector<int> connected = ties.connected_with(world->rank);
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
