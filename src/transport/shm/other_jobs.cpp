// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/other_jobs.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstddef>

#include "base/address_space.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "device/api/pins.hpp"
#include "pages/huge.hpp"
#include "transport/api/failure.hpp"
#include "transport/shm/layout_sum.hpp"

namespace weft::transport::shm {

OtherJobs::~OtherJobs() {
  while (!jobs_.empty()) drop(jobs_.begin()->first);
}

bool OtherJobs::add(int first, int places, int segment_fd) {
  auto job = std::make_unique<OtherJobMemory>();
  job->places = places;
  job->segment = {segment_fd, "the shared memory of another job"};
  job->layout = layout_for(places);
  struct stat facts = {};
  const bool alike = fstat(segment_fd, &facts) == 0 && static_cast<size_t>(facts.st_size) == job->layout.total &&
                     noted_layout(segment_fd) == sum_of(job->layout);
  if (!alike) return false;
  if (job->layout.pool != 0) job->shared_staging = std::make_unique<SharedStaging>(job->layout, job->segment, places);
  const std::lock_guard guard(mutex_);
  jobs_[first] = std::move(job);
  return true;
}

void OtherJobs::drop(int first) {
  const std::lock_guard guard(mutex_);
  const auto found = jobs_.find(first);
  if (found == jobs_.end()) return;
  OtherJobMemory& job = *found->second;
  job.endpoints.clear();
  for (const auto& [place, region] : job.regions) {
    device::unpin(region, job.layout.region);
    munmap(region, job.layout.region);
  }
  job.segment.close();
  jobs_.erase(found);
}

bool OtherJobs::reaches(int rank) const {
  const std::lock_guard guard(mutex_);
  const auto found = jobs_.find(first_of(rank));
  return found != jobs_.end() && rank - first_of(rank) < found->second->places;
}

void OtherJobs::forget(int rank) {
  const std::lock_guard guard(mutex_);
  const auto found = jobs_.find(first_of(rank));
  if (found != jobs_.end()) found->second->endpoints.erase(rank - first_of(rank));
}

void OtherJobs::fail_at(int rank, const char* why, int error) const {
  fail(rank, {.cause = "the process in place " + std::to_string(rank - first_of(rank)) +
                       " of another job cannot be reached: " + why,
              .error = error,
              .remedy = "see whether that job still runs, and whether this process may map more (ulimit -v)"});
}

Endpoint* OtherJobs::connect(int rank) {
  const std::lock_guard guard(mutex_);
  OtherJobMemory& job = *jobs_.at(first_of(rank));
  const int place = rank - first_of(rank);
  std::unique_ptr<ShmEndpoint>& known = job.endpoints[place];
  if (known != nullptr) return known.get();
  char*& region = job.regions[place];
  const size_t at = job.layout.rank_at(place);
  if (region == nullptr) {
    if (!boot::reserve_segment(job.segment.needed(), at, job.layout.rings_offset)) {
      fail_at(rank, "its control page cannot be had", errno);
      return nullptr;
    }
    const size_t alignment = pages::wants_huge() ? pages::huge_boundary : 1;
    void* const mapped =
        base::map_aligned(job.layout.region, alignment, MAP_SHARED | MAP_NORESERVE, job.segment.needed(), at);
    if (mapped == MAP_FAILED) {
      fail_at(rank, "its receive rings cannot be mapped", errno);
      return nullptr;
    }
    region = static_cast<char*>(mapped);
  }
  // It is in MPI: it has asked for the connection, or is a member of a communicator.
  uint32_t generation = 0;
  const off_t line = static_cast<off_t>(sizeof(boot::RankStatus)) * place;
  const off_t field = line + static_cast<off_t>(offsetof(boot::RankStatus, generation));
  if (pread(job.segment.needed(), &generation, sizeof generation, field) != sizeof generation) generation = 0;
  const uint32_t word = reinterpret_cast<Control*>(region)->lanes.load(std::memory_order_acquire);
  const uint32_t lanes = word & Control::lanes_mask;
  if (!std::has_single_bit(lanes) || lanes > max_lanes ||
      (word & ~Control::lanes_mask & ~Control::spread_all) != Control::generation_bits(generation)) {
    fail_at(rank, "no process is there", 0);
    return nullptr;
  }
  known = std::make_unique<ShmEndpoint>(home_, job.layout, job.segment, place, region, job.shared_staging.get());
  return known.get();
}

}  // namespace weft::transport::shm
