// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/size.hpp"

#include <dirent.h>

#include <algorithm>
#include <cstdio>

#include "pages/files.hpp"

namespace weft::pages {
namespace {

uint64_t number_of(const std::string& path) {
  return number_in(read_file(path).value_or("")).value_or(0);
}

HugePages read_pages(const std::string& folder, uint64_t kib) {
  HugePages pages{.bytes = kib << 10, .total = number_of(folder + "/nr_hugepages")};
  const uint64_t free = number_of(folder + "/free_hugepages");
  const uint64_t taken = number_of(folder + "/resv_hugepages");
  const uint64_t surplus = number_of(folder + "/surplus_hugepages");
  const uint64_t most = number_of(folder + "/nr_overcommit_hugepages");
  pages.free = free > taken ? free - taken : 0;
  pages.more = most > surplus ? most - surplus : 0;
  return pages;
}

}  // namespace

Sizes sizes_here(const Places& places) {
  Sizes sizes;
  const std::string mm = places.sys + "/kernel/mm/";
  if (DIR* folder = opendir((mm + "hugepages").c_str())) {
    while (const dirent* entry = readdir(folder)) {
      unsigned long long kib = 0;
      if (sscanf(entry->d_name, "hugepages-%llukB", &kib) != 1 || kib == 0 || kib > (uint64_t{1} << 40)) continue;
      sizes.huge.push_back(read_pages(mm + "hugepages/" + entry->d_name, kib));
    }
    closedir(folder);
  }
  std::sort(sizes.huge.begin(), sizes.huge.end(),
            [](const HugePages& a, const HugePages& b) { return a.bytes < b.bytes; });
  const std::string transparent = mm + "transparent_hugepage/";
  sizes.mode = chosen_in(read_file(transparent + "enabled").value_or(""));
  sizes.shared_mode = chosen_in(read_file(transparent + "shmem_enabled").value_or(""));
  sizes.transparent = number_of(transparent + "hpage_pmd_size");
  return sizes;
}

}  // namespace weft::pages
