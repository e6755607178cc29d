// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Address space that is reserved ahead of its use. It costs nothing but where it is limited (ulimit -v).

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace weft::base {

// The most to reserve for one purpose: an eighth of the limit, a power of two; SIZE_MAX without a limit. The rest is
// the program's.
inline size_t address_space_share() {
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return std::bit_floor(std::max<size_t>(limit.rlim_cur / 8, 1));
}

// Reserves `bytes`, or as much of that as its share and the system allow: halved until `map(bytes)` does not give
// MAP_FAILED, or there would be less than `least`: MAP_FAILED then, with errno.
template <class Map>
void* reserve_address_space(size_t& bytes, size_t least, Map&& map) {
  for (const size_t share = address_space_share(); bytes > share && bytes / 2 >= least;) bytes /= 2;
  for (;;) {
    void* const range = map(bytes);
    if (range != MAP_FAILED || bytes / 2 < least) return range;
    bytes /= 2;
  }
}

// Maps `bytes` of a file, for reading and writing, at a multiple of `alignment`: a power of two of at least a page.
// MAP_FAILED, with errno.
inline void* map_aligned(size_t bytes, size_t alignment, int flags, int fd, uint64_t offset) {
  constexpr int both = PROT_READ | PROT_WRITE;
  constexpr size_t page = 4096;
  if (alignment <= page) return mmap(nullptr, bytes, both, flags, fd, static_cast<off_t>(offset));
  size_t room = 0;
  if (__builtin_add_overflow(bytes, alignment, &room)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* const range = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return MAP_FAILED;
  const auto begin = reinterpret_cast<uintptr_t>(range);
  const uintptr_t at = (begin + alignment - 1) & -alignment;
  if (at > begin) munmap(range, at - begin);
  munmap(reinterpret_cast<void*>(at + bytes), begin + room - (at + bytes));
  void* const memory =
      mmap(reinterpret_cast<void*>(at), bytes, both, flags | MAP_FIXED, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    const int error = errno;
    munmap(reinterpret_cast<void*>(at), bytes);
    errno = error;
  }
  return memory;
}

}  // namespace weft::base
