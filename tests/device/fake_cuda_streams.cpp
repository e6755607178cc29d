// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Streams, and what is done on them. Copies and kernels are late: they are done when their stream or an event behind
// them is asked for, and that not at once. A stream with operations that others see, which are functions of the host
// and words in memory, has a thread, which does all operations up to the last of those. Kernels are interpreted.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_cuda.hpp"
#include "fake_ptx.hpp"

namespace fake_cuda {
namespace {

using Lock = std::unique_lock<std::mutex>;

struct Stream {
  std::deque<std::function<int()>> work;
  uint64_t added = 0, due = 0, done = 0;  // numbers of operations: the last one that was added, that must be done, ...
  bool is_busy = false, has_thread = false;
  int asked = 0;
  std::condition_variable changed;
};
struct Event {
  Stream* stream = nullptr;
  uint64_t number = 0;  // of the last operation in front of it
  int asked = 0;
};

// They live as long as the process, as threads do.
std::mutex mutex;                            // of all below
auto& streams = *new std::deque<Stream>(1);  // the first one is that of NULL
auto& events = *new std::deque<Event>;
auto& texts = *new std::deque<std::string>;  // of modules
auto& kernels = *new std::vector<fake_ptx::Kernel*>;
int failure = success;  // of an operation; it stays

template <class T>
T* known(std::deque<T>& all, void* handle) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const T& one) { return &one == handle; });
  return found == all.end() ? nullptr : &*found;
}
Stream* stream_at(void* handle) {
  return handle == nullptr ? &streams.front() : known(streams, handle);
}

void do_next(Stream& stream, Lock& lock) {
  stream.is_busy = true;
  const std::function<int()> operation = std::move(stream.work.front());
  stream.work.pop_front();
  lock.unlock();
  const int error = operation();
  lock.lock();
  if (failure == success) failure = error;
  stream.is_busy = false;
  ++stream.done;
  stream.changed.notify_all();
}

void run(Stream& stream) {
  Lock lock(mutex);
  for (;;) {
    while (stream.is_busy || stream.done == stream.due) stream.changed.wait(lock);
    do_next(stream, lock);
  }
}

void make_due(Stream& stream, uint64_t number) {
  stream.due = std::max(stream.due, number);
  stream.changed.notify_all();
}

int finish(Stream& stream, Lock& lock) {
  const uint64_t number = stream.added;
  make_due(stream, number);
  while (stream.done < number) {
    if (stream.is_busy || stream.has_thread) {
      stream.changed.wait(lock);
    } else {
      do_next(stream, lock);
    }
  }
  return failure;
}

// Not at once.
int ask(Stream& stream, uint64_t number, int& asked, Lock& lock) {
  if (stream.done < number && ++asked > 2) {
    make_due(stream, number);
    while (stream.done < number && !stream.is_busy && !stream.has_thread) do_next(stream, lock);
  }
  if (stream.done < number) return not_ready;
  asked = 0;
  return failure;
}

void add(Stream& stream, std::function<int()> operation) {
  stream.work.push_back(std::move(operation));
  ++stream.added;
}

// Copies and kernels are on streams that were made.
int add_late(void* handle, std::function<int()> operation) {
  const Lock lock(mutex);
  Stream* const stream = known(streams, handle);
  if (stream == nullptr) return invalid_handle;
  add(*stream, std::move(operation));
  return success;
}

int add_seen(void* handle, std::function<int()> operation) {
  const Lock lock(mutex);
  Stream* const stream = stream_at(handle);
  if (stream == nullptr) return invalid_handle;
  add(*stream, std::move(operation));
  if (!stream->has_thread) std::thread(run, std::ref(*stream)).detach();
  stream->has_thread = true;
  make_due(*stream, stream->added);
  return success;
}

// For kernels, which reach no memory of the host that is not the driver's too.
void* reach_by_kernel(Pointer address, size_t bytes) {
  const std::optional<Range> range = find(address);
  return range ? range->at(address, bytes) : nullptr;
}

int move(char* to, const char* from, size_t bytes) {
  std::memmove(to, from, bytes);
  return success;
}

size_t span(size_t rows, size_t pitch, size_t width) {
  return (rows - 1) * pitch + width;
}

}  // namespace
}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

// ---- Streams and events

// One that the stream of NULL does not wait for.
int cuStreamCreate(void** stream, unsigned flags) {
  if (!is_inside() || flags != 1) return is_inside() ? invalid_value : invalid_context;
  const Lock lock(mutex);
  *stream = &streams.emplace_back();
  return success;
}

// FAKE_CUDA_FAILS: the error that the work of streams ends with.
int cuStreamSynchronize(void* handle) {
  if (const char* failing = std::getenv("FAKE_CUDA_FAILS")) return std::atoi(failing);
  if (!is_inside()) return invalid_context;
  Lock lock(mutex);
  Stream* const stream = stream_at(handle);
  return stream != nullptr ? finish(*stream, lock) : invalid_handle;
}

int cuStreamQuery(void* handle) {
  if (!is_inside()) return invalid_context;
  Lock lock(mutex);
  Stream* const stream = stream_at(handle);
  return stream != nullptr ? ask(*stream, stream->added, stream->asked, lock) : invalid_handle;
}

int cuStreamGetCtx(void* handle, void** context) {
  const Lock lock(mutex);
  return stream_at(handle) != nullptr ? cuDevicePrimaryCtxRetain(context, 0) : invalid_handle;
}

int cuEventCreate(void** event, unsigned /*flags*/) {
  if (!is_inside()) return invalid_context;
  const Lock lock(mutex);
  *event = &events.emplace_back();
  return success;
}

int cuEventRecord(void* handle, void* on) {
  if (!is_inside()) return invalid_context;
  const Lock lock(mutex);
  Event* const event = known(events, handle);
  Stream* const stream = stream_at(on);
  if (event == nullptr || stream == nullptr) return invalid_handle;
  *event = {stream, stream->added, 0};
  return success;
}

int cuEventQuery(void* handle) {
  if (!is_inside()) return invalid_context;
  Lock lock(mutex);
  Event* const event = known(events, handle);
  if (event == nullptr || event->stream == nullptr) return invalid_handle;
  return ask(*event->stream, event->number, event->asked, lock);
}

// ---- Copies

// FAKE_CUDA_PINNED: the least bytes of a copy beside others that wants the memory of the host to be pinned.
static bool wants_pinned(Pointer to, Pointer from, size_t bytes) {
  const char* const least = std::getenv("FAKE_CUDA_PINNED");
  return least != nullptr && bytes >= static_cast<size_t>(std::atoll(least)) && (!find(to) || !find(from));
}

int cuMemcpyAsync(Pointer to, Pointer from, size_t bytes, void* stream) {
  char *const into = reach(to, bytes), *const out = reach(from, bytes);
  if (!is_inside()) return invalid_context;
  if (into == nullptr || out == nullptr || wants_pinned(to, from, bytes)) return invalid_value;
  return add_late(stream, [=] { return move(into, out, bytes); });
}

int cuMemcpy2DAsync_v2(const Rows* rows, void* stream) {
  if (!is_inside()) return invalid_context;
  const Rows r = *rows;
  if (r.from_pitch < r.width || r.to_pitch < r.width || r.height == 0) return invalid_value;
  const Pointer from = r.from_type == of_host ? reinterpret_cast<uintptr_t>(r.from_host) : r.from_device;
  const Pointer to = r.to_type == of_host ? reinterpret_cast<uintptr_t>(r.to_host) : r.to_device;
  const char* const out =
      reach(from + r.from_y * r.from_pitch + r.from_x, span(r.height, r.from_pitch, r.width), r.from_type);
  char* const into = reach(to + r.to_y * r.to_pitch + r.to_x, span(r.height, r.to_pitch, r.width), r.to_type);
  if (into == nullptr || out == nullptr || wants_pinned(to, from, r.width * r.height)) return invalid_value;
  return add_late(stream, [=] {
    for (size_t y = 0; y < r.height; ++y) (void)move(into + y * r.to_pitch, out + y * r.from_pitch, r.width);
    return success;
  });
}

// Within the device it only begins, unless adapters have the memory.
int cuMemcpy(Pointer to, Pointer from, size_t bytes) {
  char *const into = reach(to, bytes), *const out = reach(from, bytes);
  if (!is_inside()) return invalid_context;
  if (into == nullptr || out == nullptr) return invalid_value;
  const auto may_be_late = [](const std::optional<Range>& range) {
    return range && range->is_away() && !range->offered;
  };
  const bool late = may_be_late(find(to)) && may_be_late(find(from));
  Lock lock(mutex);
  Stream& stream = streams.front();
  add(stream, [=] { return move(into, out, bytes); });
  return late ? success : finish(stream, lock);
}
int cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) {
  return cuMemcpy(to, reinterpret_cast<uintptr_t>(from), bytes);
}
int cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes) {
  return cuMemcpy(reinterpret_cast<uintptr_t>(to), from, bytes);
}
int cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, void* stream) {
  return cuMemcpyAsync(to, reinterpret_cast<uintptr_t>(from), bytes, stream);
}
int cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, void* stream) {
  return cuMemcpyAsync(reinterpret_cast<uintptr_t>(to), from, bytes, stream);
}
int cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, void* stream) {
  return cuMemcpyAsync(to, from, bytes, stream);
}

// ---- Operations that others see

int cuLaunchHostFunc(void* stream, void (*function)(void*), void* argument) {
  return add_seen(stream, [=] {
    function(argument);
    return success;
  });
}

static uint32_t* word_at(Pointer at) {
  return at % sizeof(uint32_t) == 0 ? static_cast<uint32_t*>(reach_by_kernel(at, sizeof(uint32_t))) : nullptr;
}

int cuStreamWriteValue32_v2(void* stream, Pointer at, uint32_t value, unsigned /*flags*/) {
  uint32_t* const word = word_at(at);
  if (word == nullptr) return invalid_value;
  return add_seen(stream, [=] {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    return success;
  });
}

// FAKE_CUDA_NO_WAIT: streams cannot wait for a word in memory.
int cuStreamWaitValue32_v2(void* stream, Pointer at, uint32_t value, unsigned flags) {
  const uint32_t* const word = word_at(at);
  if (flags != 0 || std::getenv("FAKE_CUDA_NO_WAIT") != nullptr) return not_supported;
  if (word == nullptr) return invalid_value;
  return add_seen(stream, [=] {
    constexpr timespec pause{0, 20000};
    while (static_cast<int32_t>(__atomic_load_n(word, __ATOMIC_ACQUIRE) - value) < 0) nanosleep(&pause, nullptr);
    return success;
  });
}

// ---- Kernels

int cuModuleLoadData(void** module, const void* image) {
  if (!is_inside()) return invalid_context;
  const Lock lock(mutex);
  *module = &texts.emplace_back(static_cast<const char*>(image));
  return success;
}

int cuModuleGetFunction(void** function, void* module, const char* name) {
  const Lock lock(mutex);
  const std::string* const text = known(texts, module);
  if (text == nullptr || text->find(name) == std::string::npos) return text == nullptr ? invalid_handle : not_found;
  fake_ptx::Kernel* const kernel = fake_ptx::load(text->c_str(), name);
  if (kernel == nullptr) return invalid_ptx;
  kernels.push_back(kernel);
  *function = kernel;
  return success;
}

int cuLaunchKernel(void* function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z, unsigned threads_x,
                   unsigned threads_y, unsigned threads_z, unsigned shared, void* stream, void** parameters,
                   void** extra) {
  if (!is_inside()) return invalid_context;
  if (blocks_x == 0 || blocks_y == 0 || blocks_z != 1 || threads_x == 0 || threads_y == 0 || threads_z != 1 ||
      threads_x * threads_y > 1024 || shared != 0 || extra != nullptr)
    return invalid_value;
  const auto* const kernel = static_cast<const fake_ptx::Kernel*>(function);
  return add_late(stream, [=, arguments = fake_ptx::arguments_of(*kernel, parameters)] {
    return fake_ptx::run(*kernel, {blocks_x, blocks_y}, {threads_x, threads_y}, arguments.data(), reach_by_kernel);
  });
}

}  // extern "C"
