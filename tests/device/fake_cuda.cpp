// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library with the names of CUDA's driver and one device, whose memory faults when the processor touches it, so that
// the use of a driver can be tested where there is none. Calls that want a context want it current.
#include "fake_cuda.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <mutex>

namespace fake_cuda {
namespace {

constexpr size_t capacity = size_t{256} << 20, unit = 256, page = 4096;

std::mutex mutex;                              // of all below
auto& ranges = *new std::map<Pointer, Range>;  // by their begin; threads may outlive static data
int file = -1;                                 // the device's memory
Pointer first, next;                           // where programs see it, and behind the last allocation
char* real;                                    // where it may be touched
unsigned long long numbers;

int device_context;
thread_local void* contexts[8];
thread_local int depth;

// Twice: as programs see it, and where the processor may touch it.
int map_twice(int fd, size_t offset, size_t bytes, Range& range) {
  constexpr int flags = MAP_SHARED | MAP_NORESERVE;
  void* const seen = mmap(nullptr, bytes, PROT_NONE, flags, fd, static_cast<off_t>(offset));
  void* const touched = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, static_cast<off_t>(offset));
  range.seen = reinterpret_cast<uintptr_t>(seen);
  range.real = static_cast<char*>(touched);
  range.bytes = bytes;
  return seen == MAP_FAILED || touched == MAP_FAILED ? out_of_memory : success;
}

// The mutex is held by the callers of these.

auto find_locked(Pointer address) {
  const auto behind = ranges.upper_bound(address);
  if (behind == ranges.begin()) return ranges.end();
  const auto found = std::prev(behind);
  return address - found->second.seen < found->second.bytes ? found : ranges.end();
}

void add(Range range) {
  range.number = ++numbers;
  ranges.insert_or_assign(range.seen, range);
}

// Addresses that were freed are unknown for as long as there are others. Returns 0 if no range is free.
Pointer room_for(size_t bytes) {
  for (Pointer at : {next, first}) {
    for (auto r = ranges.lower_bound(at); r != ranges.end() && r->first < at + bytes; ++r)
      at = r->first + r->second.bytes;
    if (at + bytes <= first + capacity) return at;
  }
  return 0;
}

int map_on_host(Pointer* memory, size_t bytes, Type type) {
  if (!is_inside()) return invalid_context;
  void* const there = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (there == MAP_FAILED) return out_of_memory;
  *memory = reinterpret_cast<uintptr_t>(there);
  const std::lock_guard guard(mutex);
  add({.seen = *memory, .real = static_cast<char*>(there), .bytes = bytes, .type = type, .managed = type == of_device});
  return success;
}

size_t unused() {
  const std::lock_guard guard(mutex);
  size_t bytes = capacity;
  for (const auto& [seen, range] : ranges) bytes -= range.is_away() && range.opened == 0 ? range.bytes : 0;
  return bytes;
}

}  // namespace

bool is_inside() {
  return contexts[depth] != nullptr;
}

std::optional<Range> find(Pointer address) {
  const std::lock_guard guard(mutex);
  const auto found = find_locked(address);
  return found == ranges.end() ? std::nullopt : std::optional(found->second);
}

char* reach(Pointer address, size_t bytes, unsigned type) {
  const std::optional<Range> range = find(address);
  const bool is_freed = !range && address - first < capacity;
  if (is_freed || (type == of_device && !range) || (type == of_host && range && range->is_away())) return nullptr;
  return range ? range->at(address, bytes) : reinterpret_cast<char*>(address);
}

}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

// ---- Devices and contexts

int cuInit(unsigned flags) {
  const std::lock_guard guard(mutex);
  if (flags != 0) return invalid_value;
  if (file >= 0) return success;
  const int made = memfd_create("fake-cuda", MFD_CLOEXEC);
  Range all{};
  if (made < 0 || ftruncate(made, capacity) != 0 || map_twice(made, 0, capacity, all) != success) return out_of_memory;
  file = made;
  first = next = all.seen;
  real = all.real;
  return success;
}

int cuGetErrorName(int error, const char** name) {
  *name = error == invalid_context ? "CUDA_ERROR_INVALID_CONTEXT" : "CUDA_ERROR_UNKNOWN";
  return success;
}
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return file >= 0 ? success : not_initialized;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? success : invalid_value;
}
int cuDeviceGetName(char* name, int bytes, int device) {
  (void)std::snprintf(name, static_cast<size_t>(bytes), "stand-in");
  return device == 0 ? success : invalid_value;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = capacity;
  return device == 0 ? success : invalid_value;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  constexpr int bus = 33, unified_addressing = 41;
  *value = attribute == bus ? 7 : attribute == unified_addressing;
  return device == 0 ? success : invalid_value;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &device_context;
  return device == 0 && file >= 0 ? success : not_initialized;
}

int cuCtxGetCurrent(void** context) {
  *context = contexts[depth];
  return success;
}
int cuCtxSetCurrent(void* context) {
  if (context != &device_context && context != nullptr) return invalid_context;
  contexts[depth] = context;
  return success;
}
int cuCtxPushCurrent_v2(void* context) {
  if (context != &device_context || depth == 7) return invalid_context;
  contexts[++depth] = context;
  return success;
}
int cuCtxPopCurrent_v2(void** context) {
  *context = contexts[depth];
  if (*context == nullptr) return invalid_context;
  contexts[depth] = nullptr;
  depth -= depth > 0;
  return success;
}

// ---- Memory

int cuMemGetInfo_v2(size_t* unused_bytes, size_t* total) {
  *total = capacity;
  *unused_bytes = unused();
  return is_inside() ? success : invalid_context;
}

int cuMemAlloc_v2(Pointer* memory, size_t bytes) {
  if (!is_inside()) return invalid_context;
  if (bytes == 0 || bytes > capacity) return bytes == 0 ? invalid_value : out_of_memory;
  const size_t whole = (bytes + unit - 1) / unit * unit;
  const std::lock_guard guard(mutex);
  *memory = room_for(whole);
  if (*memory == 0) return out_of_memory;
  next = *memory + whole;
  add({.seen = *memory, .real = real + (*memory - first), .bytes = whole, .type = of_device});
  return success;
}

int cuMemAllocManaged(Pointer* memory, size_t bytes, unsigned /*flags*/) {
  return map_on_host(memory, bytes, of_device);
}

int cuMemFree_v2(Pointer memory) {
  const std::lock_guard guard(mutex);
  const auto found = ranges.find(memory);
  if (found == ranges.end() || found->second.type != of_device || found->second.opened != 0) return invalid_value;
  const Range& range = found->second;
  if (range.managed) {
    munmap(range.real, range.bytes);
  } else {
    (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(memory - first),
                    static_cast<off_t>(range.bytes));
  }
  ranges.erase(found);
  return success;
}

int cuMemHostAlloc(void** memory, size_t bytes, unsigned /*flags*/) {
  Pointer there = 0;
  const int error = map_on_host(&there, bytes, of_host);
  *memory = reinterpret_cast<void*>(there);
  return error;
}

int cuMemFreeHost(void* memory) {
  const std::lock_guard guard(mutex);
  const auto found = ranges.find(reinterpret_cast<uintptr_t>(memory));
  if (found == ranges.end() || found->second.type != of_host) return invalid_value;
  munmap(memory, found->second.bytes);
  ranges.erase(found);
  return success;
}

int cuMemHostRegister_v2(void* memory, size_t bytes, unsigned /*flags*/) {
  const Pointer begin = reinterpret_cast<uintptr_t>(memory);
  if (!is_inside()) return invalid_context;
  if (memory == nullptr || bytes == 0) return invalid_value;
  const std::lock_guard guard(mutex);
  const auto behind = ranges.lower_bound(begin);
  if (find_locked(begin) != ranges.end() || (behind != ranges.end() && behind->first < begin + bytes))
    return already_registered;
  add({.seen = begin, .real = static_cast<char*>(memory), .bytes = bytes, .type = of_host});
  return success;
}

int cuMemHostUnregister(void* memory) {
  if (!is_inside()) return invalid_context;
  const std::lock_guard guard(mutex);
  const auto found = ranges.find(reinterpret_cast<uintptr_t>(memory));
  if (found == ranges.end() || found->second.type != of_host) return not_registered;
  ranges.erase(found);
  return success;
}

int cuMemHostGetDevicePointer_v2(Pointer* there, void* memory, unsigned /*flags*/) {
  *there = reinterpret_cast<uintptr_t>(memory);
  return find(*there) ? success : invalid_value;
}

int cuMemGetAddressRange_v2(Pointer* base, size_t* bytes, Pointer at) {
  const std::optional<Range> range = find(at);
  if (!range) return not_found;
  *base = range->seen;
  *bytes = range->bytes;
  return success;
}

static int attribute_of(const std::optional<Range>& range, int attribute, void* value, Pointer at) {
  switch (attribute) {
    case 1:  // context
      *static_cast<void**>(value) = range ? &device_context : nullptr;
      return success;
    case 2:  // type of memory
      *static_cast<unsigned*>(value) = range ? range->type : 0;
      return success;
    case 3:  // device pointer
      *static_cast<Pointer*>(value) = range ? at : 0;
      return success;
    case 7:  // number of the buffer
      *static_cast<unsigned long long*>(value) = range ? range->number : 0;
      return success;
    case 8:  // is managed
      *static_cast<unsigned*>(value) = range && range->managed;
      return success;
    case 9:  // device
      *static_cast<int*>(value) = 0;
      return success;
    default:
      return invalid_value;
  }
}

int cuPointerGetAttribute(void* value, int attribute, Pointer at) {
  const std::optional<Range> range = find(at);
  return range ? attribute_of(range, attribute, value, at) : invalid_value;
}

// Zeros, and no error, for memory that is not known.
int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, Pointer at) {
  if (file < 0) return not_initialized;
  const std::optional<Range> range = find(at);
  int error = success;
  for (unsigned i = 0; i < count; ++i) error = std::max(error, attribute_of(range, attributes[i], values[i], at));
  return error;
}

void fake_cuda_open_memory(int open) {
  const int rights = open != 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  const std::lock_guard guard(mutex);
  (void)mprotect(reinterpret_cast<void*>(first), capacity, rights);
  for (const auto& [seen, range] : ranges) {
    if (range.opened != 0) (void)mprotect(reinterpret_cast<void*>(seen), range.bytes, rights);
  }
}

// ---- Memory of other processes

int cuIpcGetMemHandle(Handle* handle, Pointer memory) {
  const std::optional<Range> range = find(memory);
  if (!range || !range->is_away() || range->opened != 0) return invalid_value;
  *handle = {getpid(), file, range->seen - first, {}};
  return success;
}

// As a driver may, it maps more than the allocation.
int fake_cuda_map(int fd, size_t offset, Pointer* memory) {
  struct stat about;
  Range range{.type = of_device};
  const size_t begin = offset / page * page;
  if (fstat(fd, &about) != 0 || map_twice(fd, begin, static_cast<size_t>(about.st_size) - begin, range) != success)
    return out_of_memory;
  *memory = range.opened = range.seen + (offset - begin);
  const std::lock_guard guard(mutex);
  add(range);
  return success;
}

int cuIpcOpenMemHandle_v2(Pointer* memory, Handle handle, unsigned flags) {
  char path[64];
  if (!is_inside() || flags != 1 || handle.pid == getpid()) return invalid_context;  // as the driver has it
  (void)std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.pid, handle.file);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return invalid_handle;
  const int error = fake_cuda_map(fd, handle.offset, memory);
  close(fd);
  return error;
}

int cuIpcCloseMemHandle(Pointer memory) {
  const std::lock_guard guard(mutex);
  const auto found = find_locked(memory);
  if (found == ranges.end() || found->second.opened != memory) return invalid_value;
  munmap(reinterpret_cast<void*>(found->first), found->second.bytes);
  munmap(found->second.real, found->second.bytes);
  ranges.erase(found);
  return success;
}

// ---- For adapters of networks (fake_fabric.cpp)

static void (*called_at_flush)();
void fake_cuda_at_flush(void (*call)()) {
  called_at_flush = call;
}
char* fake_cuda_reach(Pointer address) {
  const std::optional<Range> range = find(address);
  return range && range->is_away() ? range->at(address, 1) : nullptr;
}
int fake_cuda_is_offered(Pointer address) {
  const std::optional<Range> range = find(address);
  return range && range->offered;
}

int cuPointerSetAttribute(const void* value, int attribute, Pointer at) {
  constexpr int sync_operations = 6;
  const std::lock_guard guard(mutex);
  const auto found = find_locked(at);
  if (found == ranges.end() || attribute != sync_operations) return invalid_value;
  found->second.offered = *static_cast<const unsigned*>(value) != 0;
  return success;
}

int cuFlushGPUDirectRDMAWrites(int target, int scope) {
  if (target != 0 || scope < 100) return invalid_value;
  if (!is_inside()) return invalid_context;
  if (called_at_flush != nullptr) called_at_flush();
  return success;
}

}  // extern "C"
