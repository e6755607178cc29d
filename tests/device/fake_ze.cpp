// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library with the names of Level Zero's loader over the stand-in for CUDA's driver (fake_cuda.hpp). Unlike there,
// structures say what they are, events stay signalled until they are reset, a command list that is synchronous has no
// work left when a call returns, and a handle for other processes holds a descriptor, which is of its process alone.
// FAKE_ZE: "old" is a loader without functions for descriptors, "plain" a driver that pins no memory of the host; of
// kernels see fake_ze_kernels.cpp.
#include "fake_ze.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>

using fake_cuda::Pointer, fake_cuda::Rows;

using namespace fake_ze;

int fake_ze::the_device, fake_ze::the_context;

struct Event {
  void* event;
  bool used;  // signalled, or to be signalled
};

int fake_ze::end_command(List* list, int error, void* signal, uint32_t waits) {
  if (error != 0 || waits != 0) return INVALID_ARGUMENT;
  if (signal != nullptr) {
    auto* event = static_cast<Event*>(signal);
    if (event->used || list->synchronous) return INVALID_SYNCHRONIZATION_OBJECT;
    event->used = true;
    return result_of(cuEventRecord(event->event, list->stream));
  }
  return list->synchronous ? result_of(cuStreamSynchronize(list->stream)) : SUCCESS;
}

extern "C" {

struct Handle {
  char bytes[64];
};

static int the_driver, the_pool;

// ---- Drivers and devices

int zeInit(uint32_t flags) {
  return flags != 1 ? INVALID_ENUMERATION : result_of(cuInit(0));
}

static int give(uint32_t* count, void** to, void* one) {
  if (to != nullptr && *count > 0) to[0] = one;
  *count = 1;
  return SUCCESS;
}

int zeDriverGet(uint32_t* count, void** drivers) {
  return give(count, drivers, &the_driver);
}
int zeDriverGetApiVersion(void* driver, uint32_t* version) {
  *version = 1 << 16 | 6;
  return driver == &the_driver ? SUCCESS : INVALID_ARGUMENT;
}
int zeDeviceGet(void* driver, uint32_t* count, void** devices) {
  return driver == &the_driver ? give(count, devices, &the_device) : INVALID_ARGUMENT;
}

struct DeviceProperties {
  Head head;
  int type;
  uint32_t vendor, device, flags, subdevice, clock;
  uint64_t largest;
  uint32_t numbers[7];
  uint64_t timer;
  uint32_t bits[2];
  unsigned char uuid[16];
  char name[256];
};

int zeDeviceGetProperties(void* device, DeviceProperties* properties) {
  if (device != &the_device || !is_structure(properties, 3)) return INVALID_ENUMERATION;
  properties->type = 1;
  std::memset(properties->uuid, 0x5a, sizeof properties->uuid);
  std::strcpy(properties->name, "stand-in");
  return SUCCESS;
}

struct QueueGroup {
  Head head;
  uint32_t flags;
  size_t pattern;
  uint32_t queues;
};

// One that computes and copies, one that copies alone.
int zeDeviceGetCommandQueueGroupProperties(void* device, uint32_t* count, QueueGroup* groups) {
  if (device != &the_device) return INVALID_ARGUMENT;
  for (uint32_t i = 0; groups != nullptr && i < *count && i < 2; ++i) {
    if (!is_structure(&groups[i], 6)) return INVALID_ENUMERATION;
    groups[i].flags = i == 0 ? 3 : 2;
    groups[i].queues = 1;
  }
  if (groups == nullptr || *count > 2) *count = 2;
  return SUCCESS;
}

struct MemoryProperties {
  Head head;
  uint32_t flags, clock, width;
  uint64_t bytes;
  char name[256];
};

int zeDeviceGetMemoryProperties(void* device, uint32_t* count, MemoryProperties* memory) {
  if (device != &the_device) return INVALID_ARGUMENT;
  if (memory != nullptr && *count > 0) {
    if (!is_structure(memory, 7)) return INVALID_ENUMERATION;
    memory->bytes = uint64_t{256} << 20;
  }
  *count = 1;
  return SUCCESS;
}

struct Pci {
  Head head;
  uint32_t domain, bus, device, function;
};

int zeDevicePciGetPropertiesExt(void* device, Pci* pci) {
  if (device != &the_device || !is_structure(pci, 0x10008)) return INVALID_ENUMERATION;
  pci->domain = pci->device = pci->function = 0;
  pci->bus = 0x1c;
  return SUCCESS;
}

int zeContextCreate(void* driver, const void* description, void** context) {
  if (driver != &the_driver || !is_structure(description, 0xd)) return INVALID_ENUMERATION;
  *context = &the_context;
  return SUCCESS;
}

// ---- Memory

struct MemoryDescription {
  Head head;
  uint32_t flags, ordinal;
};

int zeMemAllocDevice(void* context, const MemoryDescription* description, size_t bytes, size_t alignment, void* device,
                     void** memory) {
  if (context != &the_context || device != &the_device || !is_structure(description, 0x15) || alignment != 0)
    return INVALID_ENUMERATION;
  const Inside inside;
  Pointer made = 0;
  const int error = cuMemAlloc_v2(&made, bytes);
  *memory = reinterpret_cast<void*>(made);
  return result_of(error);
}

int zeMemFree(void* context, void* memory) {
  const Inside inside;
  return context == &the_context ? result_of(cuMemFree_v2(reinterpret_cast<uintptr_t>(memory))) : INVALID_ARGUMENT;
}

struct Allocation {
  Head head;
  int type;
  uint64_t id, page;
};

int zeMemGetAllocProperties(void* context, const void* address, Allocation* found, void** device) {
  if (context != &the_context || !is_structure(found, 0x17)) return INVALID_ENUMERATION;
  constexpr int asked[] = {2, 7};
  unsigned type = 0;
  uint64_t number = 0;
  void* answers[] = {&type, &number};
  if (cuPointerGetAttributes(2, asked, answers, reinterpret_cast<uintptr_t>(address)) != 0) return INVALID_ARGUMENT;
  found->type = type == 2 ? 2 : 0;
  found->id = number;
  *device = type == 2 ? &the_device : nullptr;
  return SUCCESS;
}

int zeMemGetAddressRange(void* context, const void* address, void** base, size_t* bytes) {
  Pointer first = 0;
  if (context != &the_context) return INVALID_ARGUMENT;
  const int error = cuMemGetAddressRange_v2(&first, bytes, reinterpret_cast<uintptr_t>(address));
  *base = reinterpret_cast<void*>(first);
  return result_of(error);
}

// The descriptor of the device's memory, and where the allocation is in it. An older driver has the descriptor in
// front.
static constexpr size_t at_descriptor = 8;

static size_t place_of_descriptor() {
  return is("old") ? 0 : at_descriptor;
}

// Another process has nothing but the descriptor: so each allocation has one, whose position is where it begins.
int zeMemGetIpcHandle(void* context, const void* memory, Handle* handle) {
  fake_cuda::Handle from;
  if (context != &the_context || cuIpcGetMemHandle(&from, reinterpret_cast<uintptr_t>(memory)) != 0)
    return INVALID_ARGUMENT;
  char path[64];
  (void)std::snprintf(path, sizeof path, "/proc/self/fd/%d", from.file);
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);  // it stays open, as the memory may
  if (descriptor < 0 || lseek(descriptor, static_cast<off_t>(from.offset), SEEK_SET) < 0) return INVALID_ARGUMENT;
  *handle = {};
  std::memcpy(handle->bytes + place_of_descriptor(), &descriptor, sizeof descriptor);
  return SUCCESS;
}

int zeMemGetFileDescriptorFromIpcHandleExp(void* context, Handle handle, uint64_t* descriptor) {
  int number = 0;
  std::memcpy(&number, handle.bytes + place_of_descriptor(), sizeof number);
  *descriptor = static_cast<uint64_t>(number);
  return context != &the_context ? INVALID_ARGUMENT : is("old") ? UNSUPPORTED : SUCCESS;
}

int zeMemGetIpcHandleFromFileDescriptorExp(void* context, uint64_t descriptor, Handle* handle) {
  const auto number = static_cast<int>(descriptor);
  *handle = {};
  std::memcpy(handle->bytes + place_of_descriptor(), &number, sizeof number);
  return context != &the_context ? INVALID_ARGUMENT : is("old") ? UNSUPPORTED : SUCCESS;
}

int zeMemOpenIpcHandle(void* context, void* device, Handle handle, uint32_t flags, void** memory) {
  if (context != &the_context || device != &the_device || flags != 0) return INVALID_ARGUMENT;
  int descriptor = -1;
  std::memcpy(&descriptor, handle.bytes + place_of_descriptor(), sizeof descriptor);
  const off_t offset = lseek(descriptor, 0, SEEK_CUR);
  Pointer there = 0;
  if (offset < 0 || fake_cuda_map(descriptor, static_cast<size_t>(offset), &there) != 0) return INVALID_ARGUMENT;
  *memory = reinterpret_cast<void*>(there);
  return SUCCESS;
}

int zeMemCloseIpcHandle(void* context, const void* memory) {
  return context == &the_context ? result_of(cuIpcCloseMemHandle(reinterpret_cast<uintptr_t>(memory)))
                                 : INVALID_ARGUMENT;
}

static int import_pointer(void* driver, void* memory, size_t bytes) {
  const Inside inside;
  return driver == &the_driver ? result_of(cuMemHostRegister_v2(memory, bytes, 0)) : INVALID_ARGUMENT;
}
static int release_pointer(void* driver, void* memory) {
  const Inside inside;
  return driver == &the_driver ? result_of(cuMemHostUnregister(memory)) : INVALID_ARGUMENT;
}

// The base of what was imported alone.
static int base_of_pointer(void* driver, void* memory, void** base) {
  const auto found = fake_cuda::find(reinterpret_cast<uintptr_t>(memory));
  if (driver != &the_driver || !found || found->type != fake_cuda::of_host) return INVALID_ARGUMENT;
  *base = reinterpret_cast<void*>(found->seen);
  return SUCCESS;
}

int zeDriverGetExtensionFunctionAddress(void* driver, const char* name, void** function) {
  if (driver != &the_driver || is("plain")) return INVALID_ARGUMENT;
  *function = std::strcmp(name, "zexDriverImportExternalPointer") == 0       ? reinterpret_cast<void*>(import_pointer)
              : std::strcmp(name, "zexDriverReleaseImportedPointer") == 0    ? reinterpret_cast<void*>(release_pointer)
              : std::strcmp(name, "zexDriverGetHostPointerBaseAddress") == 0 ? reinterpret_cast<void*>(base_of_pointer)
                                                                             : nullptr;
  return *function != nullptr ? SUCCESS : INVALID_ARGUMENT;
}

// ---- Commands and events

struct QueueDescription {
  Head head;
  uint32_t group, index, flags;
  int mode, priority;
};

int zeCommandListCreateImmediate(void* context, void* device, const QueueDescription* queue, void** list) {
  if (context != &the_context || device != &the_device || !is_structure(queue, 0xe) || queue->group > 1 ||
      queue->index != 0 || queue->flags != 0 || queue->mode < 1 || queue->mode > 2)
    return INVALID_ENUMERATION;
  const Inside inside;
  auto* made = new List{queue->mode == 1, queue->group == 0, nullptr, {}};
  *list = made;
  return result_of(cuStreamCreate(&made->stream, 1));
}

struct PoolDescription {
  Head head;
  uint32_t flags, count;
};
static uint32_t pool_events;

int zeEventPoolCreate(void* context, const PoolDescription* description, uint32_t devices, void** device, void** pool) {
  if (context != &the_context || !is_structure(description, 0x10) || description->flags != 1 ||
      description->count == 0 || devices != 1 || *device != &the_device)
    return INVALID_ENUMERATION;
  pool_events = description->count;
  *pool = &the_pool;
  return SUCCESS;
}

struct EventDescription {
  Head head;
  uint32_t index, signal, wait;
};

int zeEventCreate(void* pool, const EventDescription* description, void** event) {
  if (pool != &the_pool || !is_structure(description, 0x11) || description->index >= pool_events ||
      description->signal != 4 || description->wait != 4)
    return INVALID_ENUMERATION;
  const Inside inside;
  auto* made = new Event{};
  *event = made;
  return result_of(cuEventCreate(&made->event, 0));
}

int zeEventQueryStatus(void* event) {
  auto* e = static_cast<Event*>(event);
  const Inside inside;
  return e->used ? result_of(cuEventQuery(e->event)) : NOT_READY;
}

int zeEventHostSynchronize(void* event, uint64_t timeout) {
  if (!static_cast<Event*>(event)->used || timeout != UINT64_MAX) return INVALID_ARGUMENT;  // it would never end
  int result = NOT_READY;
  while (result == NOT_READY) result = zeEventQueryStatus(event);
  return result;
}

int zeEventHostReset(void* event) {
  static_cast<Event*>(event)->used = false;
  return SUCCESS;
}

int zeCommandListAppendMemoryCopy(void* list, void* to, const void* from, size_t bytes, void* signal, uint32_t waits,
                                  void** /*wait*/) {
  auto* l = static_cast<List*>(list);
  const std::unique_lock alone(l->busy, std::try_to_lock);
  if (!alone.owns_lock()) return INVALID_ARGUMENT;
  const Inside inside;
  const int error = cuMemcpyAsync(reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes, l->stream);
  return end_command(l, error, signal, waits);
}

struct Region {
  uint32_t x, y, z, width, height, depth;
};

int zeCommandListAppendMemoryCopyRegion(void* list, void* to, const Region* to_region, uint32_t to_pitch,
                                        uint32_t /*to_slice*/, const void* from, const Region* from_region,
                                        uint32_t from_pitch, uint32_t /*from_slice*/, void* signal, uint32_t waits,
                                        void** /*wait*/) {
  auto* l = static_cast<List*>(list);
  const std::unique_lock alone(l->busy, std::try_to_lock);
  if (!alone.owns_lock() || std::memcmp(to_region, from_region, sizeof *to_region) != 0 || to_region->x != 0 ||
      to_region->y != 0 || to_region->z != 0 || to_region->depth > 1)
    return INVALID_ARGUMENT;
  const Inside inside;
  Rows rows{};
  rows.from_type = rows.to_type = fake_cuda::by_address;
  rows.from_device = reinterpret_cast<uintptr_t>(from);
  rows.to_device = reinterpret_cast<uintptr_t>(to);
  rows.from_pitch = from_pitch;
  rows.to_pitch = to_pitch;
  rows.width = to_region->width;
  rows.height = to_region->height;
  return end_command(l, cuMemcpy2DAsync_v2(&rows, l->stream), signal, waits);
}

int zeCommandListAppendBarrier(void* list, void* signal, uint32_t waits, void** /*wait*/) {
  auto* l = static_cast<List*>(list);
  const std::unique_lock alone(l->busy, std::try_to_lock);
  if (!alone.owns_lock()) return INVALID_ARGUMENT;
  const Inside inside;
  return end_command(l, 0, signal, waits);
}

}  // extern "C"
