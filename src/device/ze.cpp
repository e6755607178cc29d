// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Level Zero's devices. Copies run on command lists of our own, in a context of our own: its drivers know the memory of
// all contexts of a process. Kernels would be SPIR-V, which is no text: blocks of a layout are copied one by one, and
// reductions are computed by the processor.
#include "device/ze.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "device/ze_library.hpp"

namespace weft::device {
namespace {

using namespace by_ze;

// A device and our command lists for it.
struct Engine {
  static constexpr unsigned quick_lists = 4;
  static constexpr uint64_t events = 64;
  struct Quick {  // for copies that are waited for: the call that appends one returns when it is done
    std::mutex mutex;
    CommandList list = nullptr;
  };

  DeviceHandle device = nullptr;
  Quick quick[quick_lists];
  std::mutex mutex;  // of the rest
  CommandList bulk = nullptr;
  Event batch = nullptr;     // of the copies of a layout
  Event event[events] = {};  // of the copies that were begun last, by their number
  uint64_t begun = 0;
};

DriverHandle driver = nullptr;
Context context = nullptr;
std::vector<DeviceHandle>* devices = nullptr;

std::mutex engines_mutex;
std::vector<std::unique_ptr<Engine>>* engines = nullptr;
thread_local DeviceHandle last_device = nullptr;  // that the thread copied with

// Copy engines alone rather than those that run kernels too.
uint32_t group_of(DeviceHandle device) {
  uint32_t count = 0;
  if (library.queue_groups(device, &count, nullptr) != success || count == 0) return 0;
  std::vector<QueueGroupProperties> groups(count);
  if (library.queue_groups(device, &count, groups.data()) != success) return 0;
  const auto copies = [](const QueueGroupProperties& group) {
    return (group.flags & group_copies) != 0 && (group.flags & group_computes) == 0 && group.queues > 0;
  };
  const auto found = std::find_if(groups.begin(), groups.end(), copies);
  return found == groups.end() ? 0 : static_cast<uint32_t>(found - groups.begin());
}

std::string equip(Engine& engine, DeviceHandle device) {
  QueueDescription queue{.group = group_of(device), .mode = mode_synchronous};
  for (Engine::Quick& quick : engine.quick) {
    if (const int error = library.make_list(context, device, &queue, &quick.list))
      return text_of("CommandListCreateImmediate", error);
  }
  queue.mode = mode_asynchronous;
  if (const int error = library.make_list(context, device, &queue, &engine.bulk))
    return text_of("CommandListCreateImmediate", error);
  const PoolDescription description{.count = Engine::events + 1};
  Pool pool = nullptr;
  if (const int error = library.make_pool(context, &description, 1, &device, &pool))
    return text_of("EventPoolCreate", error);
  for (uint32_t i = 0; i <= Engine::events; ++i) {
    const EventDescription event{.index = i};
    if (const int error = library.make_event(pool, &event, i < Engine::events ? &engine.event[i] : &engine.batch))
      return text_of("EventCreate", error);
  }
  engine.device = device;
  return {};
}

// The engine of a device; nullptr with the reason in `problem`.
Engine* engine_of(DeviceHandle device, std::string& problem) {
  std::lock_guard guard(engines_mutex);
  const auto found =
      std::find_if(engines->begin(), engines->end(), [device](const auto& engine) { return engine->device == device; });
  if (found != engines->end()) return found->get();
  auto made = std::make_unique<Engine>();
  problem = equip(*made, device);
  if (!problem.empty()) return nullptr;
  engines->push_back(std::move(made));
  return engines->back().get();
}

// Whose an address is.
struct Place {
  bool on_device = false;  // and the processor cannot touch it
  DeviceHandle device = nullptr;
  uint64_t number = 0;  // of its allocation
};

Place place_of(const void* address) {
  AllocationProperties found;
  Place place;
  if (library.allocation(context, address, &found, &place.device) != success) return {};
  place.on_device = found.type == of_device && place.device != nullptr;
  place.number = found.id;
  return place;
}

Engine* engine_for(const void* to, const void* from, std::string& problem) {
  for (const void* end : {to, from}) {
    const Place place = place_of(end);
    if (!place.on_device) continue;
    last_device = place.device;
    return engine_of(place.device, problem);
  }
  problem = "neither address is in memory of a device: it may have been freed";
  return nullptr;
}

bool owned(const void* address) {
  return place_of(address).on_device;
}

Engine::Quick& quick_of(Engine& engine) {
  static std::atomic<unsigned> next = 0;
  static thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed) % Engine::quick_lists;
  return engine.quick[mine];
}

std::string copy(void* to, const void* from, size_t bytes) {
  std::string problem;
  Engine* const engine = engine_for(to, from, problem);
  if (engine == nullptr) return problem;
  Engine::Quick& quick = quick_of(*engine);
  std::lock_guard guard(quick.mutex);
  const int error = library.copy(quick.list, to, from, bytes, nullptr, 0, nullptr);
  return error == success ? std::string() : text_of("CommandListAppendMemoryCopy", error);
}

// Rows of equal length at equal distances.
struct Rows {
  char* to;
  size_t to_stride;
  const char* from;
  size_t from_stride;
  size_t bytes;
  size_t count;

  // Whether they are a region, whose numbers have 32 bits.
  bool is_region() const {
    const size_t most = UINT32_MAX;
    return bytes <= most && count <= most && to_stride <= most && from_stride <= most;
  }
};

// Appends the copies of rows to a list.
std::string append(CommandList list, const Rows& rows) {
  if (rows.count > 1 && rows.is_region()) {
    const Region region{.width = static_cast<uint32_t>(rows.bytes), .height = static_cast<uint32_t>(rows.count)};
    const int error = library.copy_region(list, rows.to, &region, static_cast<uint32_t>(rows.to_stride), 0, rows.from,
                                          &region, static_cast<uint32_t>(rows.from_stride), 0, nullptr, 0, nullptr);
    return error == success ? std::string() : text_of("CommandListAppendMemoryCopyRegion", error);
  }
  for (size_t i = 0; i < rows.count; ++i) {
    const int error = library.copy(list, rows.to + i * rows.to_stride, rows.from + i * rows.from_stride, rows.bytes,
                                   nullptr, 0, nullptr);
    if (error != success) return text_of("CommandListAppendMemoryCopy", error);
  }
  return {};
}

std::string copy_rows(void* to, size_t to_stride, const void* from, size_t from_stride, size_t bytes, size_t rows) {
  std::string problem;
  Engine* const engine = engine_for(to, from, problem);
  if (engine == nullptr) return problem;
  Engine::Quick& quick = quick_of(*engine);
  std::lock_guard guard(quick.mutex);
  return append(quick.list,
                {static_cast<char*>(to), to_stride, static_cast<const char*>(from), from_stride, bytes, rows});
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
  Handle handle{};
  if (const int error = library.handle_of(context, base, &handle)) return text_of("MemGetIpcHandle", error);
  uint64_t number = 0;
  if (library.descriptor_of_handle != nullptr && library.descriptor_of_handle(context, handle, &number) == success)
    descriptor = static_cast<int32_t>(number);
  else
    std::memcpy(&descriptor, handle.bytes, sizeof descriptor);
  return {};
}

std::string share(const void* address, Shared& shared) {
  const Place place = place_of(address);
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
  Handle handle{};
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

// ---- What kernels would do

// The rows of a layout from a position on: those of its innermost loop, if it has whole blocks there.
Rows rows_at(const Layout& layout, Direction direction, int64_t position, char* packed, int64_t bytes) {
  const Run run = run_at(layout, position);
  int64_t length = std::min(run.bytes, bytes), count = 1, stride = length;
  if (layout.list == nullptr && layout.loops > 0 && run.bytes == layout.block) {
    const Layout::Loop& inner = layout.loop[layout.loops - 1];
    if (inner.stride >= layout.block) {
      const int64_t left = inner.count - position / layout.block % inner.count;
      count = std::clamp<int64_t>(bytes / layout.block, 1, left);
      if (count > 1) stride = inner.stride;
    }
  }
  auto* const there = reinterpret_cast<char*>(run.address);
  const auto apart = static_cast<size_t>(stride), each = static_cast<size_t>(length);
  return direction == Direction::pack ? Rows{packed, each, there, apart, each, static_cast<size_t>(count)}
                                      : Rows{there, apart, packed, each, each, static_cast<size_t>(count)};
}

std::string move(const Layout& layout, Direction direction, int64_t position, void* packed, int64_t bytes) {
  std::string problem;
  Engine* const engine = engine_for(reinterpret_cast<void*>(run_at(layout, position).address), packed, problem);
  if (engine == nullptr) return problem;
  std::lock_guard guard(engine->mutex);
  auto* at = static_cast<char*>(packed);
  while (bytes > 0 && problem.empty()) {
    const Rows rows = rows_at(layout, direction, position, at, bytes);
    const auto some = static_cast<int64_t>(rows.bytes * rows.count);
    problem = append(engine->bulk, rows);
    position += some;
    at += some;
    bytes -= some;
  }
  // Behind all copies, also if one of them could not be appended.
  if (const int error = library.barrier(engine->bulk, engine->batch, 0, nullptr))
    return problem.empty() ? text_of("CommandListAppendBarrier", error) : problem;
  const int late = library.wait(engine->batch, UINT64_MAX);
  if (problem.empty() && late != success) problem = text_of("EventHostSynchronize", late);
  if (const int error = library.reset(engine->batch); problem.empty() && error != success)
    problem = text_of("EventHostReset", error);
  return problem;
}

std::string reduce(const Reduction& reduction, const void* in, void* inout, int64_t count) {
  constexpr int64_t part_bytes = int64_t{1} << 20;
  const int64_t extent = reduction.extent();
  if (extent == 0) return "there is no such reduction";
  const int64_t most = std::min(count, part_bytes / extent);
  std::vector<char> input(static_cast<size_t>(most * extent)), output(input.size());
  const bool in_there = owned(in);
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(inout);
  while (count > 0) {
    const int64_t part = std::min(count, most);
    const auto bytes = static_cast<size_t>(part * extent);
    std::string problem = in_there ? copy(input.data(), from, bytes) : std::string();
    if (problem.empty()) problem = copy(output.data(), to, bytes);
    if (!problem.empty()) return problem;
    reduction.on_host(in_there ? input.data() : from, output.data(), part);
    problem = copy(to, output.data(), bytes);
    if (!problem.empty()) return problem;
    from += bytes;
    to += bytes;
    count -= part;
  }
  return {};
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
    engines = new std::vector<std::unique_ptr<Engine>>;
    void *import = nullptr, *let_go = nullptr;
    if (library.extension(one, "zexDriverImportExternalPointer", &import) == success &&
        library.extension(one, "zexDriverReleaseImportedPointer", &let_go) == success) {
      library.pin = reinterpret_cast<decltype(library.pin)>(import);
      library.unpin = reinterpret_cast<decltype(library.unpin)>(let_go);
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
