// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/size.hpp"

#include <dirent.h>

#include <algorithm>
#include <string_view>

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
  pages.reserved = taken;
  pages.more = most > surplus ? most - surplus : 0;
  return pages;
}

}  // namespace

std::vector<HugePages> huge_pages_in(const std::string& folder) {
  std::vector<HugePages> huge;
  DIR* const opened = opendir(folder.c_str());
  if (opened == nullptr) return huge;
  constexpr std::string_view prefix = "hugepages-";
  while (const dirent* entry = readdir(opened)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    const uint64_t page_kib = number_in(name.substr(prefix.size())).value_or(0);
    if (page_kib == 0 || page_kib > (uint64_t{1} << 40)) continue;
    huge.push_back(read_pages(folder + "/" + entry->d_name, page_kib));
  }
  closedir(opened);
  std::sort(huge.begin(), huge.end(), [](const HugePages& a, const HugePages& b) { return a.bytes < b.bytes; });
  return huge;
}

Sizes sizes_here(const KernelPaths& places) {
  Sizes sizes;
  const std::string mm = places.sys + "/kernel/mm/";
  sizes.huge = huge_pages_in(mm + "hugepages");
  const std::string transparent = mm + "transparent_hugepage/";
  sizes.mode = chosen_in(read_file(transparent + "enabled").value_or(""));
  sizes.shared_mode = chosen_in(read_file(transparent + "shmem_enabled").value_or(""));
  sizes.transparent = number_of(transparent + "hpage_pmd_size");
  return sizes;
}

}  // namespace weft::pages
