// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/huge.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "pages/size.hpp"

namespace weft::pages {
namespace {

enum Wanted { off, automatic, on };
constexpr const char* words[] = {"off", "auto", "on"};
constinit base::ChoiceSetting huge_setting{
    {.name = "WEFT_HUGE_PAGES",
     .help = "transparent huge pages for Weft's own shared memory (rings, staging buffers, shared regions); auto: "
             "where the system gives them to shared memory (shmem_enabled)",
     .subject = base::Subject::memory,
     .change = base::Change::before_start},
    off,
    words,
    3};
WEFT_SETTING(huge_setting);

// Whether shared memory gets such pages for the asking.
bool offered() {
  static const bool here = [] {
    const Sizes sizes = sizes_here();
    return sizes.transparent == huge_boundary && sizes.shares_transparent();
  }();
  return here;
}

#ifdef MADV_COLLAPSE
constexpr int collapse = MADV_COLLAPSE;
#else
constexpr int collapse = 25;  // of Linux 6.1; older kernels answer EINVAL
#endif

void tell_refused(int error) {
  base::warn_for_job("WEFT_HUGE_PAGES",
                     {.cause = "WEFT_HUGE_PAGES=on: the system gives no huge pages for shared memory, and "
                               "small ones are used",
                      .error = error,
                      .remedy = "weft info memory tells which pages there are; have the administrator allow them in "
                                "/sys/kernel/mm/transparent_hugepage/shmem_enabled, or unset WEFT_HUGE_PAGES"});
}

}  // namespace

bool wants_huge() {
  return huge_setting.value() == automatic ? offered() : huge_setting.value() == on;
}

void make_huge(void* memory, size_t bytes) {
  const auto begin = (reinterpret_cast<uintptr_t>(memory) + huge_boundary - 1) & -huge_boundary;
  const auto end = (reinterpret_cast<uintptr_t>(memory) + bytes) & -huge_boundary;
  if (begin >= end || !wants_huge()) return;
  const int error = errno;
  auto* const at = reinterpret_cast<void*>(begin);
  (void)madvise(at, end - begin, MADV_HUGEPAGE);
  const int refused = madvise(at, end - begin, collapse) == 0 ? 0 : errno;
  // It may be refused for now alone, and a kernel that does not know the call may give them as they are touched.
  const bool may_come = refused == EAGAIN || (madvise(at, 0, collapse) != 0 && offered());
  if (refused != 0 && !may_come && huge_setting.value() == on) tell_refused(refused);
  errno = error;
}

}  // namespace weft::pages
