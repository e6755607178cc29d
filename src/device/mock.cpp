// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A device without hardware, for tests: its memory is mapped twice, once where programs see it and nobody may touch it,
// so that a copy by the processor faults, and once where this driver reads and writes.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "device/device.hpp"

namespace weft::device {
namespace {

constexpr size_t capacity = size_t{256} << 20;
constexpr size_t granularity = 256;

char* seen = nullptr;  // by programs: without access
char* real = nullptr;
std::mutex mutex;
std::map<size_t, size_t>* used = nullptr;  // offsets and sizes

bool owns(const void* address) {
  const auto* at = static_cast<const char*>(address);
  return at >= seen && at < seen + capacity;
}

std::string open(bool) {
  const int fd = memfd_create("weft-mock-device", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, capacity) != 0)
    return std::string("no memory file for the mock device: ") + std::strerror(errno);
  void* blocked = mmap(nullptr, capacity, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  void* mapped = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  const int error = errno;
  close(fd);
  if (blocked == MAP_FAILED || mapped == MAP_FAILED)
    return std::string("the memory of the mock device cannot be mapped: ") + std::strerror(error);
  seen = static_cast<char*>(blocked);
  real = static_cast<char*>(mapped);
  used = new std::map<size_t, size_t>;
  return {};
}

// Where the driver reaches an address.
const char* reach(const void* address) {
  const auto* at = static_cast<const char*>(address);
  return owns(address) ? real + (at - seen) : at;
}

std::string copy(void* to, const void* from, size_t bytes) {
  for (const void* end : {static_cast<const void*>(to), from}) {
    if (owns(end) && bytes > static_cast<size_t>(seen + capacity - static_cast<const char*>(end)))
      return "the bytes go beyond the memory of the mock device";
  }
  std::memmove(const_cast<char*>(reach(to)), reach(from), bytes);
  return {};
}

void* allocate(size_t bytes) {
  const size_t wanted = (bytes + granularity) / granularity * granularity;
  std::lock_guard guard(mutex);
  size_t at = 0;
  for (const auto& [offset, size] : *used) {
    if (offset - at >= wanted) break;
    at = offset + size;
  }
  if (bytes > capacity || capacity - at < wanted) return nullptr;
  (*used)[at] = wanted;
  return seen + at;
}

bool release(void* memory) {
  std::lock_guard guard(mutex);
  return owns(memory) && used->erase(static_cast<size_t>(static_cast<char*>(memory) - seen)) == 1;
}

}  // namespace

constinit const Driver mock{"mock", open, owns, copy, allocate, release};

}  // namespace weft::device
