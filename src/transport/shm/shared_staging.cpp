// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/shared_staging.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/clock.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "device/api/pins.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::shm {

namespace {

// A word without its claims.
constexpr uint64_t claimed_by(int place) {
  return static_cast<uint64_t>(place) + 1;
}

}  // namespace

SharedStaging::SharedStaging(const SegmentLayout& layout, const base::Descriptor& segment, int places)
    : layout_(layout), segment_(segment), places_(places) {
  void* const mapped = mmap(nullptr, layout_.pool, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            segment_.needed(), static_cast<off_t>(layout_.first_pool));
  if (mapped == MAP_FAILED) {
    fail_for_good({.cause = "cannot map " + std::to_string(layout_.pool >> 10) +
                            " KiB of shared memory for the host's staging buffers",
                   .error = errno,
                   .remedy = "raise the limit on address space (ulimit -v), or lower WEFT_STAGING_BUFFERS"});
  }
  mapped_ = static_cast<char*>(mapped);
  words_ = reinterpret_cast<std::atomic<Word>*>(mapped_);
  buffers_ = mapped_ + layout_.pool_buffers;
  reserve(0, sizeof(Word) * buffers_in_all());
}

SharedStaging::~SharedStaging() {
  device::unpin(mapped_, layout_.pool);
  munmap(mapped_, layout_.pool);
}

void SharedStaging::reserve(size_t at, size_t bytes) const {
  if (boot::reserve_segment(segment_.needed(), layout_.first_pool + at, bytes)) return;
  fail_for_good({.cause = "cannot reserve " + std::to_string((bytes + 1023) >> 10) +
                          " KiB of shared memory for the host's staging buffers",
                 .error = errno,
                 .remedy = "free memory on this host, raise the job's memory limit, or lower WEFT_STAGING_BUFFERS"});
}

bool SharedStaging::claim_one(int place, size_t number) {
  Word before = word(number).load(std::memory_order_relaxed);
  if ((before & place_mask) != 0) return false;
  const Word claims = (before >> claims_shift) + 1;
  const Word now = claims << claims_shift | (before & has_memory) | claimed_by(place);
  if (!word(number).compare_exchange_strong(before, now, std::memory_order_acquire, std::memory_order_relaxed))
    return false;
  if ((before & has_memory) == 0) [[unlikely]] {
    reserve(layout_.pool_buffers + number * layout_.staging_buffer, layout_.staging_buffer);
    word(number).fetch_or(has_memory, std::memory_order_relaxed);
  }
  return true;
}

// Claims `count` adjacent buffers of the shared ones.
bool SharedStaging::claim_row(int place, size_t count, size_t& first) {
  size_t claimed = 0;
  for (size_t number = 0; number < shared(); ++number) {
    if (claim_one(place, number)) {
      if (++claimed < count) continue;
      first = number + 1 - count;
      return true;
    }
    for (; claimed != 0; --claimed) free_one(place, number - claimed);
    if (shared() - number <= count) break;
  }
  for (; claimed != 0; --claimed) free_one(place, shared() - claimed);
  return false;
}

Staging SharedStaging::claim(int place, size_t bytes) {
  const size_t count = buffers_for(bytes);
  const size_t own = shared() + static_cast<size_t>(place);
  if (count > shared()) return {};
  for (bool again = false;; again = true) {
    size_t first = own;
    if (claim_row(place, count, first) || (count == 1 && claim_one(place, own))) {
      const uint64_t claims = word(first).load(std::memory_order_relaxed) >> claims_shift;
      return {buffers_ + first * layout_.staging_buffer, claims << claims_shift | first};
    }
    const int64_t now = base::now_seconds();
    if (again || looked_s_.exchange(now, std::memory_order_relaxed) == now) return {};
    free_lost();
  }
}

bool SharedStaging::belongs_to(int place, uint64_t handle, size_t bytes) const {
  const size_t first = handle & UINT32_MAX;
  if (first >= buffers_in_all() || buffers_for(bytes) > buffers_in_all() - first) return false;
  for (size_t number = first; number < first + buffers_for(bytes); ++number) {
    const Word now = word(number).load(std::memory_order_relaxed);
    if ((now & place_mask) != claimed_by(place)) return false;
    if (number == first && now >> claims_shift != handle >> claims_shift) return false;
  }
  return true;
}

const void* SharedStaging::find(int place, uint64_t handle, size_t bytes) const {
  if (!belongs_to(place, handle, bytes)) return nullptr;
  return buffers_ + (handle & UINT32_MAX) * layout_.staging_buffer;
}

void SharedStaging::free_one(int place, size_t number) {
  Word before = word(number).load(std::memory_order_relaxed);
  while ((before & place_mask) == claimed_by(place)) {
    if (word(number).compare_exchange_weak(before, before & ~place_mask, std::memory_order_release,
                                           std::memory_order_relaxed))
      return;
  }
}

void SharedStaging::free(int place, uint64_t handle, size_t bytes) {
  if (!belongs_to(place, handle, bytes)) return;
  const size_t first = handle & UINT32_MAX;
  for (size_t number = first; number < first + buffers_for(bytes); ++number) free_one(place, number);
}

void SharedStaging::free_all(int place) {
  for (size_t number = 0; number < buffers_in_all(); ++number) free_one(place, number);
}

// The word comes first: a process that has taken the place of the lost one has said that it is there before it claims.
void SharedStaging::free_lost() {
  for (size_t number = 0; number < buffers_in_all(); ++number) {
    Word before = word(number).load(std::memory_order_acquire);
    const auto claimer = static_cast<int>(before & place_mask) - 1;
    if (claimer < 0 || claimer >= places_) continue;
    uint32_t phase = 0;
    const off_t at =
        static_cast<off_t>(sizeof(boot::RankStatus)) * claimer + static_cast<off_t>(offsetof(boot::RankStatus, phase));
    if (pread(segment_.needed(), &phase, sizeof phase, at) != sizeof phase) continue;
    if (phase != static_cast<uint32_t>(boot::Phase::lost)) continue;
    (void)word(number).compare_exchange_strong(before, before & ~place_mask, std::memory_order_acq_rel,
                                               std::memory_order_relaxed);
  }
}

}  // namespace weft::transport::shm
