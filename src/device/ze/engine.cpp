// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/ze/engine.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace weft::device::by_ze {

constinit DriverHandle driver = nullptr;
constinit Context context = nullptr;
constinit thread_local DeviceHandle last_device = nullptr;

namespace {

// The first group of engines that can do the one and not the other; `none`, if there is no such group.
uint32_t group_of(DeviceHandle device, uint32_t wanted, uint32_t unwanted, uint32_t none) {
  uint32_t count = 0;
  if (library.queue_groups(device, &count, nullptr) != success || count == 0) return none;
  std::vector<QueueGroupProperties> groups(count);
  if (library.queue_groups(device, &count, groups.data()) != success) return none;
  const auto suits = [=](const QueueGroupProperties& group) {
    return (group.flags & wanted) != 0 && (group.flags & unwanted) == 0 && group.queues > 0;
  };
  const auto found = std::find_if(groups.begin(), groups.end(), suits);
  return found == groups.end() ? none : static_cast<uint32_t>(found - groups.begin());
}

// Copies run on an engine that does nothing else rather than on one that runs kernels too.
std::string make_lists(Engine& engine, DeviceHandle device) {
  constexpr uint32_t no_group = UINT32_MAX;
  QueueDescription queue{.group = group_of(device, group_copies, group_computes, 0), .mode = mode_synchronous};
  for (Engine::Quick& quick : engine.quick) {
    if (const int error = library.make_list(context, device, &queue, &quick.list))
      return text_of("CommandListCreateImmediate", error);
  }
  queue.mode = mode_asynchronous;
  if (const int error = library.make_list(context, device, &queue, &engine.bulk))
    return text_of("CommandListCreateImmediate", error);
  queue.group = group_of(device, group_computes, 0, no_group);
  if (queue.group == no_group || library.make_list(context, device, &queue, &engine.work) != success)
    engine.work = nullptr;
  return {};
}

std::string make_events(Engine& engine, DeviceHandle device) {
  const PoolDescription description{.count = Engine::events + 1};
  Pool pool = nullptr;
  if (const int error = library.make_pool(context, &description, 1, &device, &pool))
    return text_of("EventPoolCreate", error);
  for (uint32_t i = 0; i <= Engine::events; ++i) {
    const EventDescription event{.index = i};
    if (const int error = library.make_event(pool, &event, i < Engine::events ? &engine.event[i] : &engine.batch))
      return text_of("EventCreate", error);
  }
  return {};
}

// The engine of a device; nullptr with the reason in `problem`.
Engine* engine_of(DeviceHandle device, std::string& problem) {
  static std::mutex mutex;
  static auto* const engines = new std::vector<std::unique_ptr<Engine>>;
  std::lock_guard guard(mutex);
  const auto found =
      std::find_if(engines->begin(), engines->end(), [device](const auto& engine) { return engine->device == device; });
  if (found != engines->end()) return found->get();
  auto made = std::make_unique<Engine>();
  made->device = device;
  problem = make_lists(*made, device);
  if (problem.empty()) problem = make_events(*made, device);
  if (!problem.empty()) return nullptr;
  engines->push_back(std::move(made));
  return engines->back().get();
}

Engine::Quick& quick_of(Engine& engine) {
  static std::atomic<unsigned> next = 0;
  static thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed) % Engine::quick_lists;
  return engine.quick[mine];
}

// Whether rows are a region, whose numbers have 32 bits.
bool is_region(const CopyRows& rows) {
  constexpr size_t most = UINT32_MAX;
  return rows.bytes <= most && rows.count <= most && rows.to_stride <= most && rows.from_stride <= most;
}

}  // namespace

ZeAddress place_of(const void* address) {
  AllocationProperties found;
  ZeAddress place;
  if (library.allocation(context, address, &found, &place.device) != success) return {};
  place.on_device = found.type == of_device && place.device != nullptr;
  place.by_both = found.type == of_host || found.type == shared_memory;
  place.number = found.id;
  return place;
}

Engine* engine_for(const void* to, const void* from, std::string& problem) {
  for (const void* end : {to, from}) {
    const ZeAddress place = place_of(end);
    if (!place.on_device) continue;
    last_device = place.device;
    return engine_of(place.device, problem);
  }
  problem = "neither address is in memory of a device: it may have been freed";
  return nullptr;
}

std::string append(CommandList list, const CopyRows& rows) {
  if (rows.count > 1 && is_region(rows)) {
    const CopyRegion region{.width = static_cast<uint32_t>(rows.bytes), .height = static_cast<uint32_t>(rows.count)};
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

std::string copy(void* to, const void* from, size_t bytes) {
  return copy_rows(to, bytes, from, bytes, bytes, 1);
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

}  // namespace weft::device::by_ze
