// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Level Zero's devices. Copies run on command lists of our own, in a context of our own: its drivers know the memory of
// all contexts of a process. Kernels are in kernels.cpp.
#include "device/ze/ze.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "device/api/device.hpp"
#include "device/ze/engine.hpp"
#include "device/ze/kernels.hpp"

namespace weft::device {
namespace {

using namespace by_ze;

std::vector<DeviceHandle>* devices = nullptr;

bool owned(const void* address) {
  return place_of(address).on_device;
}

// A copy that took an event before is complete when the event is used again.
std::string begin(void* to, const void* from, size_t bytes, Copy& copy) {
  std::string problem;
  Engine* const engine = engine_for(to, from, problem);
  if (engine == nullptr) return problem;
  std::lock_guard guard(engine->mutex);
  const uint64_t number = engine->begun + 1;
  Event const event = engine->event[number % Engine::events];
  if (number > Engine::events) {
    if (const int error = library.wait(event, UINT64_MAX)) return text_of("EventHostSynchronize", error);
    if (const int error = library.reset(event)) return text_of("EventHostReset", error);
  }
  if (const int error = library.copy(engine->bulk, to, from, bytes, event, 0, nullptr))
    return text_of("CommandListAppendMemoryCopy", error);
  engine->begun = number;
  copy = {number, engine};
  return {};
}

Progress look(const Copy& copy) {
  Engine& engine = *static_cast<Engine*>(copy.engine);
  std::lock_guard guard(engine.mutex);
  if (copy.number + Engine::events <= engine.begun) return Progress::done;
  const int error = library.query(engine.event[copy.number % Engine::events]);
  return error == not_ready ? Progress::running : error == success ? Progress::done : Progress::failed;
}

void* allocate(size_t bytes) {
  const DeviceMemoryDescription description;
  void* memory = nullptr;
  DeviceHandle const device = last_device != nullptr ? last_device : devices->front();
  return library.allocate(context, &description, bytes, 0, device, &memory) == success ? memory : nullptr;
}

bool release(void* memory) {
  return owned(memory) && library.release(context, memory) == success;
}

bool pin(void* memory, size_t bytes) {
  return library.pin != nullptr && library.pin(driver, memory, bytes) == success;
}

void unpin(void* memory) {
  if (library.unpin != nullptr) (void)library.unpin(driver, memory);
}

// ---- Memory that processes share

// The contents of Shared::handle. The handle that a driver gives holds a descriptor of its process, of which the other
// process gets one of its own.
struct There {
  int32_t process;
  int32_t descriptor;
  unsigned char device[16];  // its UUID
};
static_assert(sizeof(There) <= sizeof Shared{}.handle);

// The descriptors that were asked for, by the number of their allocation. The driver keeps them as long as the memory.
struct Descriptors {
  static constexpr size_t most = 256;
  std::mutex mutex;
  std::map<uint64_t, int32_t> known;
};
Descriptors descriptors;

// A driver before version 1.6 has the descriptor at the begin of its handle.
std::string find_descriptor(const void* base, int32_t& descriptor) {
  ZeIpcHandle handle{};
  if (const int error = library.handle_of(context, base, &handle)) return text_of("MemGetIpcHandle", error);
  uint64_t number = 0;
  if (library.descriptor_of_handle != nullptr && library.descriptor_of_handle(context, handle, &number) == success)
    descriptor = static_cast<int32_t>(number);
  else
    std::memcpy(&descriptor, handle.bytes, sizeof descriptor);
  return {};
}

std::string share(const void* address, Shared& shared) {
  const ZeAddress place = place_of(address);
  if (!place.on_device) return "the address is not in memory of a device: it may have been freed";
  void* base = nullptr;
  size_t bytes = 0;
  if (const int error = library.range(context, address, &base, &bytes)) return text_of("MemGetAddressRange", error);
  shared.base = reinterpret_cast<uintptr_t>(base);
  shared.bytes = bytes;
  shared.number = place.number;
  There there{getpid(), -1, {}};
  DeviceProperties properties;
  if (library.properties(place.device, &properties) == success)
    std::memcpy(there.device, properties.uuid, sizeof there.device);
  std::lock_guard guard(descriptors.mutex);
  const auto found = descriptors.known.find(place.number);
  if (found != descriptors.known.end()) {
    there.descriptor = found->second;
  } else {
    if (std::string problem = find_descriptor(base, there.descriptor); !problem.empty()) return problem;
    if (descriptors.known.size() == Descriptors::most) descriptors.known.erase(descriptors.known.begin());
    descriptors.known[place.number] = there.descriptor;
  }
  std::memcpy(shared.handle, &there, sizeof there);
  return {};
}

// The device with this UUID; the first, if this process sees none such.
DeviceHandle device_with(const unsigned char (&uuid)[16]) {
  const auto has = [&uuid](DeviceHandle device) {
    DeviceProperties properties;
    return library.properties(device, &properties) == success && std::memcmp(properties.uuid, uuid, sizeof uuid) == 0;
  };
  const auto found = std::find_if(devices->begin(), devices->end(), has);
  return found == devices->end() ? devices->front() : *found;
}

// A descriptor of another process as one of ours; -1 with the reason in `problem`.
int take_descriptor(const There& there, std::string& problem) {
  const int process = base::open_process(there.process);
  const int taken = process < 0 ? -1 : base::descriptor_of(process, there.descriptor);
  if (taken < 0) {
    problem = "descriptor " + std::to_string(there.descriptor) + " of process " + std::to_string(there.process) +
              " cannot be taken: " + std::strerror(errno) + " (it needs Linux 5.6 and the right to trace the process)";
  }
  if (process >= 0) close(process);
  return taken;
}

std::string open_descriptor(int descriptor, DeviceHandle device, void*& base) {
  ZeIpcHandle handle{};
  if (library.handle_from_descriptor == nullptr ||
      library.handle_from_descriptor(context, static_cast<uint64_t>(descriptor), &handle) != success)
    std::memcpy(handle.bytes, &descriptor, sizeof descriptor);
  const int error = library.open_handle(context, device, handle, 0, &base);
  return error == success ? std::string() : text_of("MemOpenIpcHandle", error);
}

std::string map(const Shared& shared, void*& base) {
  There there;
  std::memcpy(&there, shared.handle, sizeof there);
  std::string problem;
  const int descriptor = take_descriptor(there, problem);
  if (descriptor < 0) return problem;
  void* memory = nullptr;
  problem = open_descriptor(descriptor, device_with(there.device), memory);
  close(descriptor);
  if (!problem.empty()) return problem;
  void* first = nullptr;
  size_t bytes = 0;
  const int error = library.range(context, memory, &first, &bytes);
  const size_t before = static_cast<size_t>(static_cast<char*>(memory) - static_cast<char*>(first));
  if (error != success || before > bytes || bytes - before < shared.bytes) {
    (void)library.close_handle(context, memory);
    return error != success
               ? text_of("MemGetAddressRange", error)
               : "the allocation has " + std::to_string(bytes) + " bytes, not " + std::to_string(shared.bytes);
  }
  base = memory;
  return {};
}

void unmap(void* base) {
  (void)library.close_handle(context, base);
}

// ---- The start

template <class Get>
std::vector<void*> list_of(Get&& get) {
  uint32_t count = 0;
  if (get(&count, nullptr) != success) count = 0;
  std::vector<void*> all(count);
  if (count > 0 && get(&count, all.data()) != success) count = 0;
  all.resize(count);
  return all;
}

std::vector<DeviceHandle> gpus_of(DriverHandle one) {
  std::vector<DeviceHandle> found =
      list_of([one](uint32_t* count, DeviceHandle* to) { return library.devices(one, count, to); });
  std::erase_if(found, [](DeviceHandle device) {
    DeviceProperties properties;
    return library.properties(device, &properties) != success || properties.type != type_gpu;
  });
  return found;
}

std::string open(bool alone) {
  if (std::string problem = load(alone); !problem.empty()) return problem;
  for (DriverHandle one : list_of([](uint32_t*count, DriverHandle*to) { return library.drivers(count, to); })) {
    std::vector<DeviceHandle> found = gpus_of(one);
    if (found.empty()) continue;
    const ContextDescription description;
    if (const int error = library.make_context(one, &description, &context)) return text_of("ContextCreate", error);
    driver = one;
    devices = new std::vector<DeviceHandle>(std::move(found));
    void *import = nullptr, *let_go = nullptr;
    if (library.extension(one, "zexDriverImportExternalPointer", &import) == success &&
        library.extension(one, "zexDriverReleaseImportedPointer", &let_go) == success) {
      library.pin = reinterpret_cast<decltype(library.pin)>(import);
      library.unpin = reinterpret_cast<decltype(library.unpin)>(let_go);
      void* base_of = nullptr;
      if (library.extension(one, "zexDriverGetHostPointerBaseAddress", &base_of) == success)
        library.pinned = reinterpret_cast<decltype(library.pinned)>(base_of);
    }
    return {};
  }
  return "Level Zero has no driver with a GPU: see that /dev/dri is there and may be opened, and ZE_AFFINITY_MASK";
}

}  // namespace

Description describe_ze() {
  Description found;
  uint32_t version = 0;
  if (library.version(driver, &version) == success)
    found.driver = "Level Zero " + std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
  for (DeviceHandle device : *devices) {
    DeviceProperties properties;
    if (library.properties(device, &properties) != success) continue;
    uint32_t count = 0;
    uint64_t bytes = 0;
    (void)library.memory(device, &count, nullptr);
    std::vector<MemoryProperties> memory(count);
    if (count > 0 && library.memory(device, &count, memory.data()) == success) {
      for (const MemoryProperties& part : memory) bytes += part.bytes;
    }
    PciProperties pci{};
    char place[64] = "";
    if (library.pci != nullptr && library.pci(device, &pci) == success)
      (void)snprintf(place, sizeof place, "PCI %04x:%02x:%02x.%x", pci.domain, pci.bus, pci.device, pci.function);
    properties.name[sizeof properties.name - 1] = '\0';
    found.devices.push_back({properties.name, bytes, place});
  }
  return found;
}

constinit const Driver ze{"ze",    open, owned, copy,  copy_rows, begin, look, allocate,
                          release, pin,  unpin, share, map,       unmap, move, reduce};

}  // namespace weft::device
