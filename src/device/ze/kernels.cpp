// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/ze/kernels.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "device/kernel/spirv.hpp"
#include "device/ze/engine.hpp"

namespace weft::device::by_ze {
namespace {

constexpr uint32_t threads = 256;  // in a group
constexpr int64_t scratch_bytes = int64_t{8} << 20;

void* address_of(uint64_t address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

// ---- Kernels. All of this has the engine's mutex: a kernel keeps its arguments from one call to the next.

// Empty: done, otherwise the reason why there is no such kernel.
std::string compile(Engine& engine, const std::vector<uint32_t>& code, Kernel& kernel) {
  if (code.empty()) return "there is no such operation";
  const ModuleDescription description{.bytes = code.size() * sizeof code[0], .code = code.data()};
  Module module = nullptr;
  if (const int error = library.make_module(context, engine.device, &description, &module, nullptr))
    return text_of("ModuleCreate", error);
  const KernelDescription of_kernel{.name = ptx::kernel_name};
  Kernel made = nullptr;
  if (const int error = library.make_kernel(module, &of_kernel, &made)) return text_of("KernelCreate", error);
  if (const int error = library.set_group(made, threads, 1, 1)) return text_of("KernelSetGroupSize", error);
  kernel = made;
  return {};
}

std::mutex refusal_mutex;
std::string& refusal() {
  static auto* const text = new std::string;
  return *text;
}
void note_refusal(std::string problem) {
  std::lock_guard guard(refusal_mutex);
  refusal() = std::move(problem);
}

bool runs_kernels(const Engine& engine) {
  if (engine.work != nullptr) return true;
  note_refusal("the device has no engine for kernels that may be used");
  return false;
}

// nullptr: the device has no such kernel.
template <class Form>
Kernel kernel_for(Engine& engine, const Form& form) {
  if (!runs_kernels(engine)) return nullptr;
  const auto [place, is_new] = engine.kernels.try_emplace(ptx::key_of(form), nullptr);
  if (is_new) {
    std::string problem = compile(engine, spirv::module_of(form), place->second);
    if (!problem.empty()) note_refusal(std::move(problem));
  }
  return place->second;
}

// `work`: how many threads could have something to do. The kernels go on with what is left.
template <class... Arguments>
std::string launch(Engine& engine, Kernel kernel, uint64_t work, const Arguments&... arguments) {
  uint32_t index = 0;
  int error = success;
  const auto set = [&](const auto& argument) {
    if (error == success) error = library.set_argument(kernel, index++, sizeof argument, &argument);
  };
  (set(arguments), ...);
  if (error != success) return text_of("KernelSetArgumentValue", error);
  constexpr uint64_t most_groups = 4096;
  const Groups groups{.x = static_cast<uint32_t>(std::clamp<uint64_t>((work + threads - 1) / threads, 1, most_groups))};
  error = library.launch(engine.work, kernel, &groups, nullptr, 0, nullptr);
  return error == success ? std::string() : text_of("CommandListAppendLaunchKernel", error);
}

// Commands that are appended to a list later begin when all before them are done.
std::string order(CommandList list) {
  const int error = library.barrier(list, nullptr, 0, nullptr);
  return error == success ? std::string() : text_of("CommandListAppendBarrier", error);
}

// Waits for all that was appended to a list, also if something could not be; the first of the problems.
std::string finish(Engine& engine, CommandList list, std::string problem) {
  if (const int error = library.barrier(list, engine.batch, 0, nullptr))
    return problem.empty() ? text_of("CommandListAppendBarrier", error) : problem;
  const int late = library.wait(engine.batch, UINT64_MAX);
  if (problem.empty() && late != success) problem = text_of("EventHostSynchronize", late);
  if (const int error = library.reset(engine.batch); problem.empty() && error != success)
    problem = text_of("EventHostReset", error);
  return problem;
}

// Whether the device's kernels reach memory: its own, and what the driver has pinned or allocated for both.
bool reaches(const Engine& engine, const void* address, size_t bytes) {
  const ZeAddress place = place_of(address);
  if (place.on_device) return place.device == engine.device;
  if (place.by_both) return true;
  if (library.pinned == nullptr) return false;
  void *first = nullptr, *last = nullptr;
  auto* const begin = static_cast<char*>(const_cast<void*>(address));
  return library.pinned(driver, begin, &first) == success &&
         library.pinned(driver, begin + bytes - 1, &last) == success && first == last;
}

std::string take_scratch(Engine& engine) {
  if (engine.scratch != nullptr) return {};
  const DeviceMemoryDescription description;
  const int error = library.allocate(context, &description, scratch_bytes, 0, engine.device, &engine.scratch);
  if (error == success) return {};
  engine.scratch = nullptr;
  return text_of("MemAllocDevice", error);
}

std::string append_copy(CommandList list, void* to, const void* from, size_t bytes) {
  return append(list, {static_cast<char*>(to), bytes, static_cast<const char*>(from), bytes, bytes, 1});
}

// ---- Layouts

// The rows of a layout from a position on: those of its innermost loop, if it has whole blocks there.
CopyRows rows_at(const KernelLayout& layout, KernelDirection direction, int64_t position, char* packed, int64_t bytes) {
  const KernelRun run = run_at(layout, position);
  int64_t length = std::min(run.bytes, bytes), count = 1, stride = length;
  if (layout.list == nullptr && layout.loops > 0 && run.bytes == layout.block) {
    const KernelLayout::KernelLoop& inner = layout.loop[layout.loops - 1];
    if (inner.stride >= layout.block) {
      const int64_t left = inner.count - position / layout.block % inner.count;
      count = std::clamp<int64_t>(bytes / layout.block, 1, left);
      if (count > 1) stride = inner.stride;
    }
  }
  auto* const there = static_cast<char*>(address_of(run.address));
  const auto apart = static_cast<size_t>(stride), each = static_cast<size_t>(length);
  return direction == KernelDirection::pack ? CopyRows{packed, each, there, apart, each, static_cast<size_t>(count)}
                                            : CopyRows{there, apart, packed, each, each, static_cast<size_t>(count)};
}

std::string move_by_copies(Engine& engine, const KernelLayout& layout, KernelDirection direction, int64_t position,
                           void* packed, int64_t bytes) {
  auto* at = static_cast<char*>(packed);
  std::string problem;
  while (bytes > 0 && problem.empty()) {
    const CopyRows rows = rows_at(layout, direction, position, at, bytes);
    const auto some = static_cast<int64_t>(rows.bytes * rows.count);
    problem = append(engine.bulk, rows);
    position += some;
    at += some;
    bytes -= some;
  }
  return finish(engine, engine.bulk, std::move(problem));
}

std::mutex lists_mutex;  // of the copies of lists on devices

// The list's copy in the memory of the engine's device. The mutex is held.
std::string place_list(List& list, Engine& engine) {
  if (list.there != nullptr && list.context == &engine) return {};
  if (list.there != nullptr) (void)library.release(context, list.there);
  list.there = nullptr;
  const auto offsets = static_cast<size_t>(list.count) * sizeof(int64_t);
  const DeviceMemoryDescription description;
  void* memory = nullptr;
  if (const int error =
          library.allocate(context, &description, 2 * offsets + sizeof(int64_t), 0, engine.device, &memory))
    return text_of("MemAllocDevice", error);
  std::string problem = copy(memory, list.offset, offsets);
  if (problem.empty()) problem = copy(static_cast<char*>(memory) + offsets, list.packed, offsets + sizeof(int64_t));
  if (!problem.empty()) {
    (void)library.release(context, memory);
    return problem;
  }
  list.there = memory;
  list.context = &engine;
  return {};
}

// Appends the kernels for bytes whose packed form they reach; `done`: how many of them there are kernels for.
std::string append_move(Engine& engine, const KernelLayout& layout, KernelDirection direction, int64_t position,
                        char* packed, int64_t bytes, int64_t& done) {
  done = 0;
  while (done < bytes) {
    void* const at = packed + done;
    const ptx::Launch next =
        ptx::launch_of(layout, direction, position + done, reinterpret_cast<uintptr_t>(at), bytes - done);
    Kernel const kernel = kernel_for(engine, next.form);
    if (kernel == nullptr) return {};
    void* const place = address_of(next.arguments.place);
    std::string problem =
        layout.list != nullptr
            ? launch(engine, kernel, next.arguments.units, place, at, layout.list->there, next.arguments)
            : launch(engine, kernel, next.arguments.units, place, at, next.arguments);
    if (!problem.empty()) return problem;
    done += next.bytes;
  }
  return {};
}

// The scratch takes part after part, in their order.
std::string append_move_by_scratch(Engine& engine, const KernelLayout& layout, KernelDirection direction,
                                   int64_t position, char* packed, int64_t bytes, int64_t& done) {
  done = 0;
  auto* const scratch = static_cast<char*>(engine.scratch);
  while (done < bytes) {
    const int64_t part = std::min(bytes - done, scratch_bytes);
    const auto size = static_cast<size_t>(part);
    std::string problem;
    if (direction == KernelDirection::unpack) problem = append_copy(engine.work, scratch, packed + done, size);
    if (problem.empty()) problem = order(engine.work);
    int64_t moved = 0;
    if (problem.empty()) problem = append_move(engine, layout, direction, position + done, scratch, part, moved);
    if (problem.empty()) problem = order(engine.work);
    if (problem.empty() && direction == KernelDirection::pack && moved > 0)
      problem = append_copy(engine.work, packed + done, scratch, static_cast<size_t>(moved));
    if (problem.empty() && direction == KernelDirection::pack) problem = order(engine.work);
    if (!problem.empty()) return problem;
    done += moved;
    if (moved < part) return {};
  }
  return {};
}

// ---- Reductions

std::string reduce_by_processor(const KernelReduction& reduction, const void* in, void* inout, int64_t count) {
  constexpr int64_t part_bytes = int64_t{1} << 20;
  const int64_t extent = reduction.extent();
  if (extent == 0) return "there is no such reduction";
  const int64_t most = std::min(count, part_bytes / extent);
  std::vector<char> input(static_cast<size_t>(most * extent)), output(input.size());
  const bool in_there = place_of(in).on_device;
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

std::string append_reduce(Engine& engine, Kernel kernel, const void* in, void* inout, int64_t count) {
  return launch(engine, kernel, static_cast<uint64_t>(count), in, inout, static_cast<uint64_t>(count));
}

std::string append_reduce_by_scratch(Engine& engine, Kernel kernel, const KernelReduction& reduction, const void* in,
                                     void* inout, int64_t count) {
  const int64_t extent = std::max(reduction.extent(), 1), most = scratch_bytes / extent;
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(inout);
  while (count > 0) {
    const int64_t part = std::min(count, most);
    const auto bytes = static_cast<size_t>(part * extent);
    std::string problem = append_copy(engine.work, engine.scratch, from, bytes);
    if (problem.empty()) problem = order(engine.work);
    if (problem.empty()) problem = append_reduce(engine, kernel, engine.scratch, to, part);
    if (problem.empty()) problem = order(engine.work);
    if (!problem.empty()) return problem;
    from += bytes;
    to += bytes;
    count -= part;
  }
  return {};
}

}  // namespace

std::string move(const KernelLayout& layout, KernelDirection direction, int64_t position, void* packed, int64_t bytes) {
  std::string problem;
  Engine* const engine = engine_for(address_of(run_at(layout, position).address), packed, problem);
  if (engine == nullptr) return problem;
  std::unique_lock lists(lists_mutex, std::defer_lock);
  if (layout.list != nullptr) lists.lock();
  std::lock_guard guard(engine->mutex);
  auto* const at = static_cast<char*>(packed);
  int64_t done = 0;
  if (runs_kernels(*engine)) {
    if (layout.list != nullptr) problem = place_list(*layout.list, *engine);
    const bool reached = reaches(*engine, packed, static_cast<size_t>(bytes));
    if (problem.empty() && !reached) problem = take_scratch(*engine);
    if (!problem.empty()) return problem;
    problem = reached ? append_move(*engine, layout, direction, position, at, bytes, done)
                      : append_move_by_scratch(*engine, layout, direction, position, at, bytes, done);
    problem = finish(*engine, engine->work, std::move(problem));
  }
  if (!problem.empty() || done == bytes) return problem;
  return move_by_copies(*engine, layout, direction, position + done, at + done, bytes - done);
}

std::string reduce(const KernelReduction& reduction, const void* in, void* inout, int64_t count) {
  std::string problem;
  Engine* const engine = engine_for(inout, in, problem);
  if (engine == nullptr) return problem;
  std::unique_lock guard(engine->mutex);
  Kernel const kernel = kernel_for(*engine, reduction);
  if (kernel == nullptr) {
    guard.unlock();
    return reduce_by_processor(reduction, in, inout, count);
  }
  if (reaches(*engine, in, static_cast<size_t>(count * reduction.extent()))) {
    problem = append_reduce(*engine, kernel, in, inout, count);
  } else {
    problem = take_scratch(*engine);
    if (!problem.empty()) return problem;
    problem = append_reduce_by_scratch(*engine, kernel, reduction, in, inout, count);
  }
  return finish(*engine, engine->work, std::move(problem));
}

std::string why_no_kernel() {
  std::lock_guard guard(refusal_mutex);
  return std::exchange(refusal(), {});
}

}  // namespace weft::device::by_ze
