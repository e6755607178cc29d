// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A page of a host's shared segment, behind the notes, through which its ranks tell each other that the job ends. Of
// jobs on several hosts alone: on one host the launcher sees to it. It is touched when such a job starts.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::boot {

struct alignas(4096) HostPage {
  // 0 while the job lives; then whoever has set it first (from 0) has said why, or was told that another has.
  std::atomic<uint32_t> ending;
};
static_assert(sizeof(HostPage) == 4096);

}  // namespace weft::boot
