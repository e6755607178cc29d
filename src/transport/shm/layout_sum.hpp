// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Whether two segments are laid out alike: that of a job for its ranks, and those of two jobs that connect. The size
// does not tell, as parts are rounded up.

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "boot/job/status.hpp"
#include "transport/shm/layout.hpp"

namespace weft::transport::shm {

// The sum of a rank's part, which does not depend on the number of ranks; it is not 0.
constexpr uint32_t sum_of(const SegmentLayout& layout) {
  uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (const uint64_t part :
       {uint64_t{layout.released_offset}, uint64_t{layout.rings_offset}, uint64_t{layout.staging_offset},
        uint64_t{layout.staging}, uint64_t{layout.staging_buffer}, static_cast<uint64_t>(layout.staging_buffers),
        uint64_t{layout.region}, uint64_t{layout.pool != 0}, uint64_t{layout.heap}, uint64_t{layout.ring_cells_log2}}) {
    sum = (sum ^ part) * 0x100000001b3;
  }
  return static_cast<uint32_t>(sum ^ sum >> 32) | 1;
}

// The sum that the segment's ranks have noted; 0: they have not, or it cannot be read.
inline uint32_t noted_layout(int segment) {
  uint32_t sum = 0;
  return pread(segment, &sum, sizeof sum, offsetof(boot::RankStatus, layout)) == sizeof sum ? sum : 0;
}

}  // namespace weft::transport::shm
