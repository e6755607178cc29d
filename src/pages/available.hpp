// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How much memory the system would still give this process, as far as it can be known before memory is touched.

#include <cstdint>
#include <string>

namespace weft::pages {

// Where the kernel tells about itself; another place for tests.
struct KernelPaths {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

struct Available {
  uint64_t bytes = UINT64_MAX;
  std::string bound;   // the tightest bound, for people; empty: none is known
  std::string remedy;  // how that is widened
};

// The tightest of: free memory of the host with what the kernel can drop, and swap; the limits of the control groups,
// version 1 and 2, up to the root; the commit limit, where the kernel overcommits nothing (vm.overcommit_memory = 2).
// Reads a few small files, some tens of microseconds. Thread-safe.
[[nodiscard]] Available available(const KernelPaths& places = {});

}  // namespace weft::pages
