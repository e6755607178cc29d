// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/huge.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "base/setting.hpp"
#include "pages/size.hpp"

namespace weft::pages {
namespace {

enum Wanted { off, automatic, on };
constexpr const char* words[] = {"off", "auto", "on"};
constinit base::ChoiceSetting huge_setting{
    {.name = "WEFT_HUGE_PAGES",
     .help = "transparent huge pages for Weft's own shared memory (rings, staging buffers, rooms); auto: where the "
             "system gives them to shared memory (shmem_enabled)",
     .subject = base::Subject::memory,
     .change = base::Change::before_start},
    off,
    words,
    3};
WEFT_SETTING(huge_setting);

#ifdef MADV_COLLAPSE
constexpr int collapse = MADV_COLLAPSE;
#else
constexpr int collapse = 25;  // of Linux 6.1; older kernels answer EINVAL
#endif

}  // namespace

bool wants_huge() {
  if (huge_setting.value() != automatic) return huge_setting.value() == on;
  static const bool offered = [] {
    const Sizes sizes = sizes_here();
    return sizes.transparent == huge_boundary && sizes.shares_transparent();
  }();
  return offered;
}

void make_huge(void* memory, size_t bytes) {
  const auto begin = (reinterpret_cast<uintptr_t>(memory) + huge_boundary - 1) & -huge_boundary;
  const auto end = (reinterpret_cast<uintptr_t>(memory) + bytes) & -huge_boundary;
  if (begin >= end || !wants_huge()) return;
  const int error = errno;
  auto* const at = reinterpret_cast<void*>(begin);
  (void)madvise(at, end - begin, MADV_HUGEPAGE);
  (void)madvise(at, end - begin, collapse);
  errno = error;
}

}  // namespace weft::pages
