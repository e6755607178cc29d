// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda/kernels.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "device/api/contention.hpp"
#include "device/cuda/engine.hpp"
#include "device/kernel/ptx.hpp"

namespace weft::device::by_cuda {
namespace {

// The kernels that were compiled. They are few: at most as many as there are forms, for each context.
struct Kernels {
  std::mutex mutex;
  std::map<std::pair<Context, uint64_t>, Function> known;
};
Kernels& kernels() {
  static auto* all = new Kernels;
  return *all;
}

// The kernel `key` in the current context, from its text.
template <class MakeText>
std::string find_kernel(Context context, uint64_t key, MakeText&& make_text, Function& function) {
  Kernels& all = kernels();
  std::lock_guard guard(all.mutex);
  const auto found = all.known.find({context, key});
  if (found != all.known.end()) {
    function = found->second;
    return {};
  }
  const std::string text = make_text();
  Module module = nullptr;
  if (const int error = library.load_module(&module, text.c_str())) return text_of("ModuleLoadData", error);
  if (const int error = library.function_of(&function, module, ptx::kernel_name))
    return text_of("ModuleGetFunction", error);
  all.known[{context, key}] = function;
  return {};
}

// `work`: how many threads could have something to do. The kernels go on with what is left.
template <class Arguments>
std::string launch(Function function, int64_t work, Stream stream, Arguments& arguments) {
  constexpr int64_t threads = 256, most_blocks = 4096;
  const auto blocks = static_cast<unsigned>(std::clamp<int64_t>((work + threads - 1) / threads, 1, most_blocks));
  void* parameters[] = {&arguments};
  const int error = library.launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
  return error == success ? std::string() : text_of("LaunchKernel", error);
}

std::string wait_for(Stream stream) {
  const int error = library.synchronize(stream);
  return error == success ? std::string() : text_of("StreamSynchronize", error);
}

void* address_of(Pointer pointer) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(pointer));
}

// Where kernels in a context reach an address: memory of its device, or of the host that is pinned or managed. 0:
// nowhere.
Pointer reach(const void* address, const CudaAddress& from) {
  static constexpr int asked[] = {attribute_memory_type, attribute_device_pointer};
  unsigned type = 0;
  Pointer pointer = 0;
  void* answers[] = {&type, &pointer};
  if (library.pointer_attributes(2, asked, answers, pointer_of(address)) != success) return 0;
  if (type == memory_of_host) return pointer;
  if (type != memory_of_device) return 0;
  const CudaAddress place = place_of(address);
  const bool same_context = place.context != nullptr && place.context == from.context;
  return !place.on_device || same_context || place.device == from.device ? pointer : 0;
}

// Memory of a context's device for what kernels cannot reach, from the first use on. One thread at a time has it.
struct DeviceScratch {
  static constexpr int64_t bytes = int64_t{8} << 20;
  std::mutex mutex;
  Pointer memory = 0;
};

DeviceScratch& scratch_of(Context context) {
  static std::mutex mutex;
  static auto* all = new std::map<Context, DeviceScratch>;
  std::lock_guard guard(mutex);
  return (*all)[context];
}

class HeldScratch {
 public:
  explicit HeldScratch(Context context) : scratch_(scratch_of(context)), guard_(scratch_.mutex) {
    if (scratch_.memory == 0) error_ = library.allocate(&scratch_.memory, DeviceScratch::bytes);
    if (error_ != success) scratch_.memory = 0;
  }
  std::string problem() const { return error_ == success ? std::string() : text_of("MemAlloc", error_); }
  Pointer memory() const { return scratch_.memory; }

 private:
  DeviceScratch& scratch_;
  std::lock_guard<std::mutex> guard_;
  int error_ = success;
};

std::mutex lists_mutex;  // of the copies of lists on devices

// The list's copy in the memory of the context's device, which is current. The mutex is held.
std::string place_list(List& list, const ContextStream& lane) {
  if (list.there != nullptr && list.context == lane.context) return {};
  if (list.there != nullptr) (void)library.release(pointer_of(list.there));
  list.there = nullptr;
  const auto offsets = static_cast<size_t>(list.count) * sizeof(int64_t);
  Pointer memory = 0;
  if (const int error = library.allocate(&memory, 2 * offsets + sizeof(int64_t))) return text_of("MemAlloc", error);
  int error = library.copy(memory, pointer_of(list.offset), offsets, lane.stream);
  if (error == success)
    error = library.copy(memory + offsets, pointer_of(list.packed), offsets + sizeof(int64_t), lane.stream);
  if (error == success) error = library.synchronize(lane.stream);
  if (error != success) {
    (void)library.release(memory);
    return text_of("MemcpyAsync", error);
  }
  list.there = address_of(memory);
  list.context = lane.context;
  return {};
}

// Begins to move bytes whose packed form a kernel reaches.
std::string begin_move(const KernelLayout& layout, KernelDirection direction, int64_t position, Pointer packed,
                       int64_t bytes, const ContextStream& lane) {
  while (bytes > 0) {
    ptx::Launch next = ptx::launch_of(layout, direction, position, packed, bytes);
    if (const List* list = layout.list) {
      next.arguments.offset = pointer_of(list->there);
      next.arguments.before = next.arguments.offset + static_cast<uint64_t>(list->count) * sizeof(int64_t);
    }
    Function function = nullptr;
    std::string problem = find_kernel(
        lane.context, ptx::key_of(next.form), [&] { return library.text_of_layout(next.form); }, function);
    if (problem.empty()) problem = launch(function, next.arguments.units, lane.stream, next.arguments);
    if (!problem.empty()) return problem;
    position += next.bytes;
    packed += static_cast<Pointer>(next.bytes);
    bytes -= next.bytes;
  }
  return {};
}

// The scratch takes part after part; the stream keeps them in order.
std::string begin_move_by_scratch(const KernelLayout& layout, KernelDirection direction, int64_t position, void* packed,
                                  int64_t bytes, Pointer scratch, const ContextStream& lane) {
  Pointer at = pointer_of(packed);
  while (bytes > 0) {
    const int64_t part = std::min(bytes, DeviceScratch::bytes);
    const auto size = static_cast<size_t>(part);
    if (direction == KernelDirection::unpack) {
      if (const int error = library.copy(scratch, at, size, lane.stream)) return text_of("MemcpyAsync", error);
    }
    if (std::string problem = begin_move(layout, direction, position, scratch, part, lane); !problem.empty())
      return problem;
    if (direction == KernelDirection::pack) {
      if (const int error = library.copy(at, scratch, size, lane.stream)) return text_of("MemcpyAsync", error);
    }
    position += part;
    at += static_cast<Pointer>(part);
    bytes -= part;
  }
  return {};
}

std::string begin_reduce(const KernelReduction& reduction, Pointer in, Pointer inout, int64_t count,
                         const ContextStream& lane) {
  ptx::ReductionArguments arguments{in, inout, static_cast<uint64_t>(count), 0};
  const int in_vector = ptx::elements_of_vector(reduction);
  if (in_vector > 0 && (in | inout) % 16 == 0) arguments.vectors = arguments.count / static_cast<uint64_t>(in_vector);
  Function function = nullptr;
  std::string problem = find_kernel(
      lane.context, ptx::key_of(reduction), [&] { return library.text_of_reduction(reduction); }, function);
  if (!problem.empty()) return problem;
  const auto work = static_cast<int64_t>(arguments.vectors > 0 ? arguments.vectors : arguments.count);
  return launch(function, work, lane.stream, arguments);
}

// Notes how long a short move lasts. One whose kernel is compiled counts too, once.
class Timed {
 public:
  explicit Timed(int64_t bytes) : begun_(bytes <= most ? base::now_ns() : 0) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    if (begun_ != 0) note_short_copy(base::now_ns() - begun_);
  }

 private:
  static constexpr int64_t most = 256 << 10;
  uint64_t begun_;
};

}  // namespace

std::string move(const KernelLayout& layout, KernelDirection direction, int64_t position, void* packed, int64_t bytes) {
  const CudaAddress place = place_of(address_of(layout.place));
  ContextStream lane;
  std::string problem;
  if (!find_lane(place, lane, problem)) return problem;
  const Current current(lane.context);
  if (current.error() != success) return text_of("CtxPushCurrent", current.error());
  std::unique_lock lists(lists_mutex, std::defer_lock);
  if (layout.list != nullptr) {
    lists.lock();
    problem = place_list(*layout.list, lane);
    if (!problem.empty()) return problem;
  }
  const Timed timed(bytes);
  if (const Pointer there = reach(packed, place)) {
    problem = begin_move(layout, direction, position, there, bytes, lane);
    const std::string late = wait_for(lane.stream);
    return problem.empty() ? late : problem;
  }
  if (is_gone(packed, place_of(packed))) return text_of_gone(packed);
  const HeldScratch scratch(lane.context);
  if (!scratch.problem().empty()) return scratch.problem();
  problem = begin_move_by_scratch(layout, direction, position, packed, bytes, scratch.memory(), lane);
  const std::string late = wait_for(lane.stream);
  return problem.empty() ? late : problem;
}

std::string reduce(const KernelReduction& reduction, const void* in, void* inout, int64_t count) {
  const CudaAddress place = place_of(inout);
  ContextStream lane;
  std::string problem;
  if (!find_lane(place, lane, problem)) return problem;
  const Current current(lane.context);
  if (current.error() != success) return text_of("CtxPushCurrent", current.error());
  if (const Pointer there = reach(in, place)) {
    problem = begin_reduce(reduction, there, pointer_of(inout), count, lane);
    const std::string late = wait_for(lane.stream);
    return problem.empty() ? late : problem;
  }
  if (is_gone(in, place_of(in))) return text_of_gone(in);
  const HeldScratch scratch(lane.context);
  if (!scratch.problem().empty()) return scratch.problem();
  const int extent = reduction.extent();
  if (extent == 0) return "there is no such reduction";
  const int64_t most = DeviceScratch::bytes / extent;
  Pointer from = pointer_of(in), to = pointer_of(inout);
  while (count > 0 && problem.empty()) {
    const int64_t part = std::min(count, most);
    const auto bytes = static_cast<size_t>(part * extent);
    const int error = library.copy(scratch.memory(), from, bytes, lane.stream);
    problem =
        error == success ? begin_reduce(reduction, scratch.memory(), to, part, lane) : text_of("MemcpyAsync", error);
    from += bytes;
    to += bytes;
    count -= part;
  }
  const std::string late = wait_for(lane.stream);
  return problem.empty() ? late : problem;
}

}  // namespace weft::device::by_cuda
