// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// CUDA's devices, and HIP's, whose library has the same functions. Copies run on streams of our own, which neither wait
// for those of the program nor hold them up. A context gets its streams when memory of it is first copied; they live as
// long as the process.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "base/clock.hpp"
#include "device/api/contention.hpp"
#include "device/api/device.hpp"
#include "device/cuda/aperture.hpp"
#include "device/cuda/engine.hpp"
#include "device/cuda/kernels.hpp"
#include "device/cuda/plain_pages.hpp"

namespace weft::device {
namespace {

using namespace by_cuda;

// A context and our streams in it.
struct CudaEngine {
  static constexpr unsigned quick_streams = 4;
  static constexpr uint64_t events = 64;

  Context context = nullptr;
  Stream quick[quick_streams] = {};  // of copies that are waited for, a thread's always in the same
  Stream bulk = nullptr;             // of those that are begun
  std::mutex mutex;                  // of the rest
  Event event[events] = {};          // of the last copies of `bulk`, by their number
  uint64_t begun = 0;
  std::atomic<uint64_t> done = 0;
};

constexpr int most_engines = 32;
CudaEngine engines[most_engines];
std::atomic<int> engine_count = 0;
std::mutex engines_mutex;

constexpr unsigned non_blocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned without_timing = 2;  // CU_EVENT_DISABLE_TIMING

int equip(CudaEngine& engine) {
  for (Stream& stream : engine.quick) {
    if (const int error = library.make_stream(&stream, non_blocking)) return error;
  }
  if (const int error = library.make_stream(&engine.bulk, non_blocking)) return error;
  for (Event& event : engine.event) {
    if (const int error = library.make_event(&event, without_timing)) return error;
  }
  return success;
}

// The engine of a context; nullptr with the reason in `problem`.
CudaEngine* engine_of(Context context, std::string& problem) {
  const auto find = [&]() -> CudaEngine* {
    const int count = engine_count.load(std::memory_order_acquire);
    CudaEngine* const end = engines + count;
    CudaEngine* const found = std::find_if(engines, end, [&](const CudaEngine& e) { return e.context == context; });
    return found == end ? nullptr : found;
  };
  if (CudaEngine* engine = find()) return engine;
  std::lock_guard guard(engines_mutex);
  if (CudaEngine* engine = find()) return engine;
  const int count = engine_count.load(std::memory_order_relaxed);
  if (count == most_engines) {
    problem = "data lie in more contexts than " + std::to_string(most_engines);
    return nullptr;
  }
  CudaEngine& engine = engines[count];
  const Current current(context);
  const int error = current.error() != success ? current.error() : equip(engine);
  if (error != success) {
    problem = text_of("StreamCreate", error);
    return nullptr;
  }
  engine.context = context;
  engine_count.store(count + 1, std::memory_order_release);
  return &engine;
}

// Memory of a pool belongs to no context: that of its device, which all programs share, does.
CudaEngine* engine_at(const CudaAddress& place, std::string& problem) {
  if (place.context != nullptr) return engine_of(place.context, problem);
  Context context = nullptr;
  if (const int error = library.retain(&context, place.device)) {
    problem = text_of("DevicePrimaryCtxRetain", error);
    return nullptr;
  }
  return engine_of(context, problem);
}

// The engines of addresses that the thread has copied lately. Asking the driver for an address of the host took 0.6 us.
// An entry may be out of date: a copy is right on any engine that there is.
struct Lately {
  static constexpr int log2_bytes = 21;
  static constexpr size_t entries = 16;
  uintptr_t page[entries] = {};
  CudaEngine* engine[entries] = {};

  CudaEngine* find(const void* address) const {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address) >> log2_bytes;
    return page[at % entries] == at ? engine[at % entries] : nullptr;
  }
  void keep(const void* address, CudaEngine* its) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(address) >> log2_bytes;
    page[at % entries] = at;
    engine[at % entries] = its;
  }
};
thread_local Lately lately;

CudaEngine* engine_for(const void* to, const void* from, std::string& problem) {
  CudaEngine* found = nullptr;
  for (const void* end : {to, from}) {
    CudaEngine* const before = lately.find(end);
    if (before == nullptr && plain_pages.holds(end)) continue;
    const CudaAddress place = place_of(end);
    if (is_gone(end, place)) {
      problem = text_of_gone(end);
      return nullptr;
    }
    if (!place.on_device || found != nullptr) continue;
    found = before != nullptr ? before : engine_at(place, problem);
    if (found == nullptr) return nullptr;
    lately.keep(end, found);
  }
  if (found == nullptr) problem = "neither address is in memory of a device: it may have been freed";
  return found;
}

// Memory that was freed counts too: it is the driver's copy that says so, where the processor would fault.
bool owned(const void* address) {
  const CudaAddress place = place_of(address);
  if (place.on_device) plain_pages.forget(address);
  return place.on_device || is_gone(address, place);
}

Stream quick_stream(const CudaEngine& engine) {
  static std::atomic<unsigned> next = 0;
  static thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed) % CudaEngine::quick_streams;
  return engine.quick[mine];
}

// Issues a copy in a stream of our own, and waits for it.
template <class Issue>
std::string wait_for(const void* to, const void* from, const char* function, Issue&& issue) {
  std::string problem;
  const CudaEngine* engine = engine_for(to, from, problem);
  if (engine == nullptr) return problem;
  const Current current(engine->context);
  if (current.error() != success) return text_of("CtxPushCurrent", current.error());
  const Stream stream = quick_stream(*engine);
  if (const int error = issue(stream)) return text_of(function, error);
  const int error = library.synchronize(stream);
  return error == success ? std::string() : text_of("StreamSynchronize", error);
}

std::string copy_plainly(void* to, const void* from, size_t bytes) {
  return wait_for(to, from, "MemcpyAsync",
                  [&](Stream stream) { return library.copy(pointer_of(to), pointer_of(from), bytes, stream); });
}

std::string copy_rows(void* to, size_t to_stride, const void* from, size_t from_stride, size_t bytes, size_t rows) {
  const auto type_of = [](const void* address) { return owned(address) ? memory_of_device : memory_of_host; };
  Memcpy2D all{};
  all.from_type = type_of(from);
  all.from_host = from;
  all.from_device = pointer_of(from);
  all.from_pitch = from_stride;
  all.to_type = type_of(to);
  all.to_host = to;
  all.to_device = pointer_of(to);
  all.to_pitch = to_stride;
  all.width = bytes;
  all.height = rows;
  return wait_for(to, from, "Memcpy2DAsync", [&](Stream stream) { return library.copy_rows(&all, stream); });
}

// The driver writes less than 28 KiB through the engine that runs kernels, unless they are rows: those go by a copy
// engine. That takes 1.6 us more for a few bytes and less from 8 KiB on, but waits for no change between processes.
constexpr size_t short_most = 28 << 10;
constexpr size_t rows_from = 8 << 10;

std::string copy_as_rows(void* to, const void* from, size_t bytes) {
  const size_t half = bytes / 2;
  std::string problem = copy_rows(to, half, from, half, half, 2);
  if (bytes % 2 == 0 || !problem.empty()) return problem;
  return copy_rows(static_cast<char*>(to) + bytes - 2, 1, static_cast<const char*>(from) + bytes - 2, 1, 1, 2);
}

std::string copy(void* to, const void* from, size_t bytes) {
  if (bytes <= aperture_most_to && copy_by_aperture(to, from, bytes)) return {};
  const bool to_device = lately.find(to) != nullptr && lately.find(from) == nullptr;
  if (!to_device || bytes < 2 || bytes >= short_most) return copy_plainly(to, from, bytes);
  if (bytes >= rows_from || takes_turns()) return copy_as_rows(to, from, bytes);
  const uint64_t begun = base::now_ns();
  std::string problem = copy_plainly(to, from, bytes);
  note_short_copy(base::now_ns() - begun);
  return problem;
}

std::string begin(void* to, const void* from, size_t bytes, Copy& copy) {
  std::string problem;
  CudaEngine* engine = engine_for(to, from, problem);
  if (engine == nullptr) return problem;
  const Current current(engine->context);
  if (current.error() != success) return text_of("CtxPushCurrent", current.error());
  if (bytes <= aperture_most_to && copy_by_aperture(to, from, bytes)) {
    copy = {0, engine};  // done
    return {};
  }
  std::lock_guard guard(engine->mutex);
  if (const int error = library.copy(pointer_of(to), pointer_of(from), bytes, engine->bulk))
    return text_of("MemcpyAsync", error);
  const uint64_t number = ++engine->begun;
  if (const int error = library.record(engine->event[number % CudaEngine::events], engine->bulk))
    return text_of("EventRecord", error);
  copy = {number, engine};
  return {};
}

// A later copy that took the event is complete after this one.
Progress look(const Copy& copy) {
  CudaEngine& engine = *static_cast<CudaEngine*>(copy.engine);
  if (copy.number <= engine.done.load(std::memory_order_acquire)) return Progress::done;
  std::lock_guard guard(engine.mutex);
  const Current current(engine.context);
  const int error = library.query(engine.event[copy.number % CudaEngine::events]);
  if (error == not_ready) return Progress::running;
  if (error != success) return Progress::failed;
  if (copy.number > engine.done.load(std::memory_order_relaxed))
    engine.done.store(copy.number, std::memory_order_release);
  return Progress::done;
}

// A context to call in: the thread's, or one that memory was copied in. nullptr: the process has used none.
Context any_context() {
  Context now = nullptr;
  if (library.current(&now) == success && now != nullptr) return now;
  return engine_count.load(std::memory_order_acquire) > 0 ? engines[0].context : nullptr;
}

// A program that has used no device gets memory of the first.
void* allocate(size_t bytes) {
  Context context = any_context();
  if (context == nullptr && library.retain(&context, 0) != success) return nullptr;
  const Current current(context);
  Pointer memory = 0;
  if (current.error() != success || library.allocate(&memory, bytes) != success) return nullptr;
  return reinterpret_cast<void*>(static_cast<uintptr_t>(memory));
}

bool release(void* memory) {
  return owned(memory) && library.release(pointer_of(memory)) == success;
}

bool pin(void* memory, size_t bytes) {
  constexpr unsigned for_all_contexts = 1;  // CU_MEMHOSTREGISTER_PORTABLE
  const Context context = any_context();
  if (context == nullptr) return false;
  const Current current(context);
  return current.error() == success && library.pin(memory, bytes, for_all_contexts) == success;
}

void unpin(void* memory) {
  const Context context = any_context();
  if (context == nullptr) return;
  const Current current(context);
  (void)library.unpin(memory);
}

// The handles that were asked for, by the number of their allocation: asking is slow.
struct Handles {
  static constexpr size_t most = 256;
  std::mutex mutex;
  std::map<uint64_t, CudaIpcHandle> known;
};
Handles handles;

std::string share(const void* address, Shared& shared) {
  static constexpr int asked[] = {attribute_buffer_number};
  void* answers[] = {&shared.number};
  Pointer base = 0;
  size_t bytes = 0;
  if (const int error = library.pointer_attributes(1, asked, answers, pointer_of(address)))
    return text_of("PointerGetAttributes", error);
  std::string problem;
  const CudaEngine* engine = engine_at(place_of(address), problem);
  if (engine == nullptr) return problem;
  const Current current(engine->context);
  if (const int error = library.range(&base, &bytes, pointer_of(address))) return text_of("MemGetAddressRange", error);
  shared.base = base;
  shared.bytes = bytes;
  std::lock_guard guard(handles.mutex);
  auto found = handles.known.find(shared.number);
  if (found == handles.known.end()) {
    CudaIpcHandle handle;
    if (const int error = library.handle_of(&handle, base)) return text_of("IpcGetMemHandle", error);
    if (handles.known.size() == Handles::most) handles.known.erase(handles.known.begin());
    found = handles.known.emplace(shared.number, handle).first;
  }
  static_assert(sizeof shared.handle == sizeof(CudaIpcHandle));
  std::memcpy(shared.handle, &found->second, sizeof(CudaIpcHandle));
  return {};
}

std::string map(const Shared& shared, void*& base) {
  constexpr unsigned from_other_devices_too = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
  const Context context = any_context();
  if (context == nullptr) return "this process has used no device";
  const Current current(context);
  CudaIpcHandle handle;
  std::memcpy(&handle, shared.handle, sizeof handle);
  Pointer memory = 0, first = 0;
  size_t bytes = 0;
  if (current.error() != success) return text_of("CtxPushCurrent", current.error());
  if (const int error = library.open_handle(&memory, handle, from_other_devices_too))
    return text_of("IpcOpenMemHandle", error);
  const int error = library.range(&first, &bytes, memory);
  if (error != success || memory - first > bytes || bytes - (memory - first) < shared.bytes) {
    (void)library.close_handle(memory);
    return error != success
               ? text_of("MemGetAddressRange", error)
               : "the allocation has " + std::to_string(bytes) + " bytes, not " + std::to_string(shared.bytes);
  }
  base = reinterpret_cast<void*>(static_cast<uintptr_t>(memory));
  return {};
}

void unmap(void* base) {
  std::string problem;
  const CudaEngine* engine = engine_at(place_of(base), problem);
  if (engine == nullptr) return;
  const Current current(engine->context);
  (void)library.close_handle(pointer_of(base));
}

}  // namespace

namespace by_cuda {

bool is_gone(const void* address, const CudaAddress& place) {
  return !place.known && !plain_pages.holds(address) && !plain_pages.try_to_read(address);
}

std::string text_of_gone(const void* address) {
  char place[32];
  (void)std::snprintf(place, sizeof place, "%p", address);
  return std::string("the memory at ")
      .append(place)
      .append(
          " was freed: no device has it, and the processor cannot read it; free a buffer when the operations on it are "
          "complete");
}

CudaAddress place_of(const void* address) {
  static constexpr int asked[] = {attribute_memory_type, attribute_is_managed, attribute_context, attribute_device};
  unsigned type = 0, managed = 0;
  CudaAddress place;
  void* answers[] = {&type, &managed, &place.context, &place.device};
  if (library.pointer_attributes(4, asked, answers, pointer_of(address)) != success) return {};
  place.known = type != 0;
  place.on_device = type == memory_of_device && managed == 0;  // managed memory is the host's too
  return place;
}

bool find_lane(const CudaAddress& place, ContextStream& lane, std::string& problem) {
  if (!place.on_device) {
    problem = "the address is not in memory of a device: it may have been freed";
    return false;
  }
  const CudaEngine* engine = engine_at(place, problem);
  if (engine == nullptr) return false;
  lane = {engine->context, quick_stream(*engine)};
  return true;
}

// HIP has no such attribute.
std::string set_sync_memops(const void* address) {
  if (library.set_attribute == nullptr) return {};
  constexpr int sync_memops = 6;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
  const unsigned yes = 1;
  const int error = library.set_attribute(&yes, sync_memops, pointer_of(address));
  return error == success ? std::string() : text_of("PointerSetAttribute", error);
}

}  // namespace by_cuda

namespace {

std::string open_cuda(bool alone) {
  std::string problem = load_cuda(alone);
  if (problem.empty()) open_apertures();
  return problem;
}

constexpr Driver driver(const char* name, std::string (*open)(bool alone), const char* stream_type) {
  return {
      name,  open,  owned, copy,  copy_rows,     begin,           look,        allocate,           release,      pin,
      unpin, share, map,   unmap, by_cuda::move, by_cuda::reduce, stream_type, by_cuda::make_gate, by_cuda::halt};
}

}  // namespace

constinit const Driver cuda = driver("cuda", open_cuda, "cudaStream_t");
constinit const Driver hip = driver("hip", load_hip, "hipStream_t");

}  // namespace weft::device
