// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/system.hpp"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace weft::pages {
namespace {

constexpr int preferred_many = 5;  // MPOL_PREFERRED_MANY, since Linux 5.15

int bind_as(void* memory, size_t bytes, int mode, const base::CpuSet& nodes) {
  const bool none = mode == MPOL_DEFAULT;
  const long done = syscall(SYS_mbind, memory, bytes, mode, none ? nullptr : nodes.data(),
                            none ? 0UL : static_cast<unsigned long>(base::CpuSet::capacity), 0U);
  return done == 0 ? 0 : errno;
}

}  // namespace

int System::bind(void* memory, size_t bytes, PolicyMode mode, const base::CpuSet& nodes) {
  switch (mode) {
    case PolicyMode::reset:
      return bind_as(memory, bytes, MPOL_DEFAULT, nodes);
    case PolicyMode::bind:
      return bind_as(memory, bytes, MPOL_BIND, nodes);
    case PolicyMode::interleave:
      return bind_as(memory, bytes, MPOL_INTERLEAVE, nodes);
    case PolicyMode::prefer:
      break;
  }
  if (nodes.count() > 1) {
    const int error = bind_as(memory, bytes, preferred_many, nodes);
    if (error != EINVAL) return error;
  }
  base::CpuSet first;  // an older kernel prefers one alone
  first.add(nodes.first());
  return bind_as(memory, bytes, MPOL_PREFERRED, first);
}

int System::welcome_huge(void* memory, size_t bytes) {
  return madvise(memory, bytes, MADV_HUGEPAGE) == 0 ? 0 : errno;
}

}  // namespace weft::pages
