// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A device without hardware, for tests: its memory is mapped twice, once where programs see it and nobody may touch it,
// so that a copy by the processor faults, and once where this driver reads and writes. Memory of other processes is
// mapped the same way. A copy that is begun happens when it is looked at for the second time.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <vector>

#include "device/api/device.hpp"

namespace weft::device {
namespace {

constexpr size_t capacity = size_t{256} << 20;  // of a process
constexpr size_t granularity = 256;

// The memory of a process.
struct MockRegion {
  char* seen;  // by programs, which have no access to it
  char* real;
};

struct MockAllocation {
  size_t bytes;
  uint64_t number;
};

struct BegunCopy {
  void* to;
  const void* from;
  size_t bytes;
  bool seen = false;
};

// The contents of a handle.
struct Address {
  int32_t pid;
  int32_t fd;
  uint64_t offset;
};
static_assert(sizeof(Address) <= sizeof Shared{}.handle);

struct MockState {
  int fd = -1;
  std::mutex mutex;
  std::vector<MockRegion> regions;  // ours first
  std::map<size_t, MockAllocation> used;
  std::map<size_t, size_t> freed;  // bytes of those that are in use no more
  uint64_t allocations = 0;
  std::map<uint64_t, BegunCopy> begun;
  uint64_t copies = 0;
};
MockState* state = nullptr;

bool map_region(int fd, MockRegion& region) {
  void* seen = mmap(nullptr, capacity, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  void* real = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (seen == MAP_FAILED || real == MAP_FAILED) {
    const int error = errno;
    if (seen != MAP_FAILED) munmap(seen, capacity);
    if (real != MAP_FAILED) munmap(real, capacity);
    errno = error;
    return false;
  }
  region = {static_cast<char*>(seen), static_cast<char*>(real)};
  return true;
}

std::string open(bool) {
  auto* made = new MockState;
  MockRegion region;
  made->fd = memfd_create("weft-mock-device", MFD_CLOEXEC);
  if (made->fd < 0 || ftruncate(made->fd, capacity) != 0 || !map_region(made->fd, region)) {
    const int error = errno;
    if (made->fd >= 0) close(made->fd);
    delete made;
    return std::string("no memory for the mock device: ") + std::strerror(error);
  }
  made->regions.push_back(region);
  state = made;
  return {};
}

// The region that an address is in; nullptr: none. The mutex is held.
const MockRegion* region_of(const void* address) {
  for (const MockRegion& region : state->regions) {
    if (address >= region.seen && address < region.seen + capacity) return &region;
  }
  return nullptr;
}

bool owned(const void* address) {
  std::lock_guard guard(state->mutex);
  return region_of(address) != nullptr;
}

// Whether an allocation of our own memory was at an offset, and was freed.
bool was_freed(size_t offset) {
  auto after = state->freed.upper_bound(offset);
  if (after == state->freed.begin()) return false;
  const auto& [begin, bytes] = *--after;
  return offset - begin < bytes;
}

// Where the driver reaches the bytes at an address; nullptr: there is no such memory of the device. The mutex is held.
char* reach(const void* address, size_t bytes) {
  auto* at = static_cast<char*>(const_cast<void*>(address));
  const MockRegion* region = region_of(address);
  if (region == nullptr) return at;
  const auto offset = static_cast<size_t>(at - region->seen);
  if (bytes > capacity - offset || (region == state->regions.data() && was_freed(offset))) return nullptr;
  return region->real + offset;
}

std::string move(void* to, const void* from, size_t bytes) {
  char* target;
  const char* source;
  {
    std::lock_guard guard(state->mutex);
    target = reach(to, bytes);
    source = reach(from, bytes);
  }
  if (target == nullptr || source == nullptr)
    return "the memory of the mock device was freed, or the bytes go beyond it";
  std::memmove(target, source, bytes);
  return {};
}

std::string copy_rows(void* to, size_t to_stride, const void* from, size_t from_stride, size_t bytes, size_t rows) {
  for (size_t i = 0; i < rows; ++i) {
    std::string problem =
        move(static_cast<char*>(to) + i * to_stride, static_cast<const char*>(from) + i * from_stride, bytes);
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string begin(void* to, const void* from, size_t bytes, Copy& copy) {
  std::lock_guard guard(state->mutex);
  copy.number = ++state->copies;
  state->begun[copy.number] = {to, from, bytes};
  return {};
}

Progress look(const Copy& copy) {
  BegunCopy begun;
  {
    std::lock_guard guard(state->mutex);
    const auto found = state->begun.find(copy.number);
    if (found == state->begun.end()) return Progress::done;
    if (!found->second.seen) {
      found->second.seen = true;
      return Progress::running;
    }
    begun = found->second;
    state->begun.erase(found);
  }
  return move(begun.to, begun.from, begun.bytes).empty() ? Progress::done : Progress::failed;
}

void* allocate(size_t bytes) {
  const size_t wanted = (bytes + granularity) / granularity * granularity;
  std::lock_guard guard(state->mutex);
  size_t at = 0;
  for (const auto& [offset, piece] : state->used) {
    if (offset - at >= wanted) break;
    at = offset + piece.bytes;
  }
  if (bytes > capacity || capacity - at < wanted) return nullptr;
  state->used[at] = {wanted, ++state->allocations};
  for (auto old = state->freed.begin(); old != state->freed.end();) {
    const bool overlaps = old->first < at + wanted && at < old->first + old->second;
    old = overlaps ? state->freed.erase(old) : std::next(old);
  }
  return state->regions[0].seen + at;
}

bool release(void* memory) {
  std::lock_guard guard(state->mutex);
  if (region_of(memory) != state->regions.data()) return false;
  const auto found = state->used.find(static_cast<size_t>(static_cast<char*>(memory) - state->regions[0].seen));
  if (found == state->used.end()) return false;
  state->freed[found->first] = found->second.bytes;
  state->used.erase(found);
  return true;
}

std::string share(const void* address, Shared& shared) {
  std::lock_guard guard(state->mutex);
  const char* seen = state->regions[0].seen;
  auto after = state->used.upper_bound(static_cast<size_t>(static_cast<const char*>(address) - seen));
  if (region_of(address) != state->regions.data() || after == state->used.begin()) return "it is not allocated";
  const auto& [offset, piece] = *--after;
  if (address >= seen + offset + piece.bytes) return "it is not allocated";
  shared.base = reinterpret_cast<uintptr_t>(seen + offset);
  shared.bytes = piece.bytes;
  shared.number = piece.number;
  const Address there{getpid(), state->fd, offset};
  std::memcpy(shared.handle, &there, sizeof there);
  return {};
}

std::string map(const Shared& shared, void*& base) {
  Address there;
  std::memcpy(&there, shared.handle, sizeof there);
  if (there.offset > capacity || shared.bytes > capacity - there.offset) return "it lies beyond the memory of a device";
  const std::string path = "/proc/" + std::to_string(there.pid) + "/fd/" + std::to_string(there.fd);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return path + ": " + std::strerror(errno);
  MockRegion region;
  struct stat file {};
  const bool mapped = fstat(fd, &file) == 0 && static_cast<size_t>(file.st_size) == capacity && map_region(fd, region);
  close(fd);
  if (!mapped) return path + " cannot be mapped";
  std::lock_guard guard(state->mutex);
  state->regions.push_back(region);
  base = region.seen + there.offset;
  return {};
}

void unmap(void* base) {
  std::lock_guard guard(state->mutex);
  const MockRegion* region = region_of(base);
  if (region == nullptr || region == state->regions.data()) return;
  munmap(region->seen, capacity);
  munmap(region->real, capacity);
  state->regions.erase(state->regions.begin() + (region - state->regions.data()));
}

// The processor stands for the kernels.
std::string move_layout(const KernelLayout& layout, KernelDirection direction, int64_t position, void* packed,
                        int64_t bytes) {
  auto* at = static_cast<char*>(packed);
  while (bytes > 0) {
    const KernelRun run = run_at(layout, position);
    const int64_t some = std::min(bytes, run.bytes);
    void* there = reinterpret_cast<void*>(run.address);
    std::string problem = direction == KernelDirection::pack ? move(at, there, static_cast<size_t>(some))
                                                             : move(there, at, static_cast<size_t>(some));
    if (!problem.empty()) return problem;
    position += some;
    at += some;
    bytes -= some;
  }
  return {};
}

std::string reduce(const KernelReduction& reduction, const void* in, void* inout, int64_t count) {
  const auto bytes = static_cast<size_t>(count * reduction.extent());
  char* from;
  char* to;
  {
    std::lock_guard guard(state->mutex);
    from = reach(in, bytes);
    to = reach(inout, bytes);
  }
  if (from == nullptr || to == nullptr) return "the numbers go beyond the memory of the mock device";
  reduction.on_host(from, to, count);
  return {};
}

// A stream of the mock's has nothing but Weft's operations, which come one after the other.
std::string make_gate(Gate&) {
  return {};
}

std::string halt(const Gate&, uint32_t, void (*reached)(void*), void* argument) {
  reached(argument);
  return {};
}

}  // namespace

constinit const Driver mock{"mock",       open,   owned,     move,    copy_rows,
                            begin,        look,   allocate,  release, [](void*, size_t) { return true; },
                            [](void*) {}, share,  map,       unmap,   move_layout,
                            reduce,       "mock", make_gate, halt};

}  // namespace weft::device
