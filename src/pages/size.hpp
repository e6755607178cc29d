// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The page sizes of this host: explicit huge pages, which the administrator sets aside, and transparent ones.

#include <cstdint>
#include <string>
#include <vector>

#include "pages/available.hpp"

namespace weft::pages {

struct HugePages {
  size_t bytes = 0;  // of one
  uint64_t total = 0;
  uint64_t free = 0;      // and not reserved for somebody
  uint64_t reserved = 0;  // for those who have not touched theirs; the kernel does not tell on which node
  uint64_t more = 0;      // that the kernel may add when they are asked for (nr_overcommit_hugepages)
};

struct Sizes {
  std::vector<HugePages> huge;  // the smaller ones first
  std::string mode;             // of transparent pages of private memory: always, madvise, never; empty: there are none
  std::string shared_mode;      // the same of shared memory: always, within_size, advise, never
  size_t transparent = 0;       // bytes of a transparent page

  // Whether shared memory gets transparent pages, perhaps when they are asked for with madvise.
  bool shares_transparent() const {
    return transparent != 0 && !shared_mode.empty() && shared_mode != "never" && shared_mode != "deny";
  }
};

// Explicit huge pages that a folder tells of, the smaller ones first: of the system, or of a NUMA node, which tells of
// no reservations.
[[nodiscard]] std::vector<HugePages> huge_pages_in(const std::string& folder);

[[nodiscard]] Sizes sizes_here(const KernelPaths& places = {});

}  // namespace weft::pages
