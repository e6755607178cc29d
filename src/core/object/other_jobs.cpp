// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/object/other_jobs.hpp"

#include <algorithm>
#include <atomic>

#include "boot/job/status.hpp"
#include "core/object/comm.hpp"
#include "core/object/identity.hpp"

namespace weft::core {
namespace {

constinit std::atomic<OtherJob*> jobs[boot::all_job_numbers] = {};
constinit std::atomic<bool> met = false;

}  // namespace

OtherJob* job_of(int32_t rank) {
  const auto block = static_cast<uint32_t>(rank) >> boot::job_shift;
  return block < boot::all_job_numbers ? jobs[block].load(std::memory_order_acquire) : nullptr;
}

void set_job(int32_t block, OtherJob* job) {
  jobs[block >> boot::job_shift].store(job, std::memory_order_release);
  met.store(true, std::memory_order_relaxed);
}

std::vector<OtherJob*> known_jobs() {
  std::vector<OtherJob*> known;
  for (const auto& each : jobs) {
    if (OtherJob* const job = each.load(std::memory_order_relaxed); job != nullptr) known.push_back(job);
  }
  return known;
}

int32_t renumbered(int32_t rank, int32_t teller) {
  if (teller < identity->places) return rank;
  if (!is_far(teller)) return is_far(rank) ? unknown_process : rank ^ block_of(teller);
  const OtherJob* const job = job_of(teller);
  if (job == nullptr) return unknown_process;
  const int32_t block = block_of(rank);
  return block == 0 ? rank + job->first : block == job->theirs ? rank - block : unknown_process;
}

int32_t numbered_by(int32_t other, int32_t rank) {
  if (other < identity->places) return rank;
  if (!is_far(other)) return rank ^ block_of(other);
  const OtherJob* const job = job_of(other);
  return job != nullptr ? rank + job->theirs : unknown_process;
}

int32_t rank_in_job(int number, int32_t place) {
  return ((number < boot::job_numbers ? number ^ identity->job.number : number) << boot::job_shift) + place;
}

bool comes_before(int32_t rank, int32_t other) {
  const int32_t far = is_far(rank) ? rank : other;
  const OtherJob* const job = is_far(far) ? job_of(far) : nullptr;
  if (job == nullptr) {
    const int32_t own = identity->job.number << boot::job_shift;
    return (rank ^ own) < (other ^ own);
  }
  const auto key = [job](int32_t each) {
    const bool first = is_far(each) != job->senior;
    return place_in(each) + (first ? 0 : boot::most_places_of_a_job);
  };
  return key(rank) < key(other);
}

int32_t far_rank_of(const Group& group) {
  if (!has_met_jobs()) return no_far_rank;
  for (int32_t r = 0; r < group.size; ++r) {
    if (is_far(group.job_rank(r))) return group.job_rank(r);
  }
  return no_far_rank;
}

int32_t far_rank_of(const Comm& comm) {
  const int32_t ours = comm.group != nullptr ? far_rank_of(*comm.group) : no_far_rank;
  return ours == no_far_rank && comm.remote != nullptr ? far_rank_of(*comm.remote) : ours;
}

FarPart far_part(int32_t far_rank) {
  const OtherJob* const job = job_of(far_rank);
  return job != nullptr ? FarPart{job->slot, job->senior} : FarPart{0, false};
}

std::string addresses_for(int32_t far_rank) {
  const OtherJob* const job = job_of(far_rank);
  return job != nullptr ? job->addresses : std::string();
}

bool knows_far_jobs() {
  return std::any_of(jobs + boot::job_numbers, jobs + boot::all_job_numbers,
                     [](const auto& job) { return job.load(std::memory_order_relaxed) != nullptr; });
}

int32_t ranks_of_all_jobs() {
  const bool has_room =
      identity->job.one_host() && identity->job.can_grow() && identity->places <= boot::most_places_of_a_job;
  return has_room ? boot::all_job_numbers << boot::job_shift : identity->places;
}

bool has_met_jobs() {
  return met.load(std::memory_order_relaxed);
}

bool is_of_known_job(int32_t rank) {
  const OtherJob* const job = job_of(rank);
  return job != nullptr && place_in(rank) < job->places;
}

boot::RankStatus* line_of_other(int32_t rank) {
  return is_of_known_job(rank) ? &boot::status_of(job_of(rank)->header, place_in(rank)) : nullptr;
}

boot::RankStatus* line_of(int32_t job_rank) {
  if (job_rank >= identity->places) return line_of_other(job_rank);
  const int32_t place = identity->job.place_here(job_rank);
  return place >= 0 ? &identity->line_at(place) : nullptr;
}

uint32_t generation_of(int32_t job_rank) {
  if (!identity->job.can_grow()) return 0;
  const boot::RankStatus* const line = line_of(job_rank);
  return line != nullptr ? line->generation.load(std::memory_order_acquire) : 0;
}

}  // namespace weft::core
