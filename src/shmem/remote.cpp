// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/remote.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <vector>

#include "coll/agree/agree.hpp"
#include "core/progress/progress.hpp"
#include "core/rma/create.hpp"
#include "core/rma/names.hpp"
#include "core/rma/view.hpp"
#include "datatype/predefined.hpp"
#include "shmem/error.hpp"

namespace weft::shmem {

namespace rma = core::rma;

// A context's view of both windows.
struct ContextWindows {
  rma::Window heap;
  rma::Window data;
};

namespace {

rma::Window* heap_window = nullptr;
rma::Window* data_window = nullptr;

constinit base::Lock making_ways;

bool holds(const rma::Window& window, const void* address, size_t bytes) {
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(window.base);
  return bytes <= window.bytes && offset <= window.bytes - bytes;
}

datatype::Type& bytes_type() {
  return datatype::byte_type;
}

rma::Local local(const void* data, size_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  return {const_cast<void*>(data), count, &bytes_type(), count, device::owns(data)};
}

rma::Remote whole(const SymmetricData& remote, int64_t count, datatype::Type& type) {
  return {{remote.offset, count, &type}, remote.pe};
}

using Both = std::array<rma::Window*, 2>;

// The windows as the context sees them; nullptr: it has not needed them yet.
Both windows_of(const Context& context) {
  if (&context == &contexts[default_place]) return {heap_window, data_window};
  ContextWindows* const way = context.way.load(std::memory_order_acquire);
  if (way == nullptr) return {nullptr, nullptr};
  return {&way->heap, &way->data};
}

Both make_way(const char* function, Context& context) {
  const std::lock_guard guard(making_ways);
  if (context.way.load(std::memory_order_relaxed) == nullptr) {
    auto* way = new ContextWindows;
    if (!rma::open_view(way->heap, *heap_window) || !rma::open_view(way->data, *data_window)) {
      fail(function, "there is no address space for what a context notes of each PE",
           "raise the limit (ulimit -v), or make fewer contexts");
    }
    context.way.store(way, std::memory_order_release);
  }
  return windows_of(context);
}

// The context's own view of a window.
rma::Window* seen_by(const char* function, Context& context, const rma::Window* window) {
  Both both = windows_of(context);
  if (both[0] == nullptr) both = make_way(function, context);
  return both[window == heap_window ? 0 : 1];
}

// The end of an operation that changed its target, which may sleep until then; of one that went by messages, these
// leave. The way is looked at now: an operation that the kernel refused has taken the other one.
void end(const char* function, const SymmetricData& remote, shmem_ctx_t ctx, Until until) {
  if (!by_messages(remote)) {
    const Near& near = state.near[remote.pe];
    if (near.endpoint != nullptr) tell(near);
    return;
  }
  Context& context = context_at(ctx);
  if (!context.messages.load(std::memory_order_relaxed)) context.messages.store(true, std::memory_order_relaxed);
  if (until == Until::done) finish(function, remote);
  // A program that computes from here on makes no progress, so it is made now, unless more is about to follow.
  if (!context.batches.load(std::memory_order_relaxed)) (void)core::progress();
}

}  // namespace

datatype::Type& type_of(Basic basic) {
  constexpr size_t most = 64;
  static std::vector<datatype::Type> types;
  static std::once_flag built;
  std::call_once(built, [] {
    types = std::vector<datatype::Type>(most);
    for (const datatype::Predefined& row : datatype::predefined_types()) {
      auto& type = types[static_cast<size_t>(row.basic)];
      if (!type.predefined) datatype::build_predefined(row, type);
    }
  });
  return types[static_cast<size_t>(basic)];
}

bool by_messages(const SymmetricData& remote) {
  return remote.window->targets[remote.pe].region.reach.load(std::memory_order_relaxed) == rma::Reach::messages;
}

rma::Window* window_of(const void* address, size_t bytes) {
  if (heap_window != nullptr && holds(*heap_window, address, bytes)) return heap_window;
  if (data_window != nullptr && holds(*data_window, address, bytes)) return data_window;
  return nullptr;
}

SymmetricData find(const char* function, shmem_ctx_t ctx, const void* address, size_t bytes, int pe) {
  need_start(function);
  uint32_t found = 0;
  if (!On{function, ctx}.find(pe, found)) {
    const Context& context = context_at(ctx);
    if (context.handle != reinterpret_cast<uintptr_t>(ctx)) bad_context(function, ctx);
    bad_pe(function, pe, context.pes, ctx == SHMEM_CTX_DEFAULT ? "the job" : "the context's team");
  }
  rma::Window* window = window_of(address, bytes);
  if (window == nullptr) {
    const bool too_long = window_of(address, 0) != nullptr;
    fail(function,
         too_long ? std::to_string(bytes) + " bytes at " + address_text(address) + " reach beyond symmetric memory"
                  : "the address " + address_text(address) + " is not symmetric",
         "give memory of shmem_malloc, or a static variable of the program itself (SHMEM_SYMMETRIC_SIZE is the size of "
         "the heap)");
  }
  const char* base = window->base;
  return {seen_by(function, context_at(ctx), window), static_cast<int32_t>(found),
          static_cast<const char*>(address) - base};
}

void put(const char* function, shmem_ctx_t ctx, const SymmetricData& to, const void* source, size_t bytes,
         Until until) {
  check(function,
        rma::put(*to.window, local(source, bytes), whole(to, static_cast<int64_t>(bytes), bytes_type()), nullptr));
  end(function, to, ctx, until);
}

void get(const char* function, shmem_ctx_t ctx, const SymmetricData& from, void* dest, size_t bytes, Until until) {
  check(function,
        rma::get(*from.window, local(dest, bytes), whole(from, static_cast<int64_t>(bytes), bytes_type()), nullptr));
  if (by_messages(from)) {
    end(function, from, ctx, until);
  } else {
    serve_afar();
  }
}

void update(const char* function, shmem_ctx_t ctx, const SymmetricData& to, const void* value, void* result,
            Reduction reduction, Basic basic, Until until) {
  datatype::Type& type = type_of(basic);
  const bool reads = reduction == Reduction::no_op;
  const rma::Local from{const_cast<void*>(value), reads ? 0 : 1, &type, reads ? 0 : type.size};
  if (result == nullptr) {
    check(function, rma::accumulate(*to.window, from, whole(to, 1, type), reduction, type, nullptr));
  } else {
    const rma::Local old{result, 1, &type, type.size};
    check(function, rma::get_accumulate(*to.window, from, old, whole(to, 1, type), reduction, type, nullptr));
    serve_afar();
  }
  end(function, to, ctx, until);
}

void compare_swap(const char* function, shmem_ctx_t ctx, const SymmetricData& to, const void* value, const void* cond,
                  void* result, Basic basic, Until until) {
  datatype::Type& type = type_of(basic);
  check(function, rma::compare_and_swap(*to.window, value, cond, result, type, whole(to, 1, type)));
  serve_afar();
  end(function, to, ctx, until);
}

void finish(const char* function, const SymmetricData& remote) {
  check(function, rma::flush(*remote.window, remote.pe, true));
}

void order(const char* function, const SymmetricData& remote) {
  check(function, rma::order(*remote.window, remote.pe));
}

void order_all(const Context& context) {
  for (rma::Window* window : windows_of(context)) {
    if (window != nullptr) check("shmem_fence", rma::order_all(*window));
  }
}

void complete_all(const Context& context) {
  for (rma::Window* window : windows_of(context)) {
    if (window != nullptr) check("shmem_quiet", rma::flush_all(*window, false));
  }
}

void complete_pe(const Context& context, int32_t pe) {
  for (rma::Window* window : windows_of(context)) {
    if (window != nullptr) check("shmem_pe_quiet", rma::flush(*window, pe, false));
  }
}

// ---- Making

// Finds the writable segments of the program itself, not of its libraries, as they lie in this process.
StaticData static_data() {
  StaticData found{nullptr, 0};
  (void)dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        uintptr_t from = UINTPTR_MAX;
        uintptr_t end = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
          from = std::min<uintptr_t>(from, info->dlpi_addr + part.p_vaddr);
          end = std::max<uintptr_t>(end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        if (from < end) *static_cast<StaticData*>(to) = {reinterpret_cast<char*>(from), end - from};
        return 1;  // the program comes first
      },
      &found);
  return found;
}

namespace {

struct WindowParts {
  rma::WindowPart heap;
  rma::WindowPart data;
};

rma::Window* describe(core::Comm& comm, char* base, uint64_t bytes, rma::WindowPart& part) {
  auto* window = new rma::Window;
  window->comm = &comm;
  window->base = base;
  window->bytes = bytes;
  rma::prepare(*window, rma::Flavor::create, part);
  check("shmem_init", part.error);
  return window;
}

// The PEs of this host, rising.
std::vector<int32_t> pes_here() {
  const core::Identity& own = *core::identity;
  std::vector<int32_t> pes;
  if (own.job.one_host()) {
    pes.resize(static_cast<size_t>(own.size));
    std::iota(pes.begin(), pes.end(), 0);
  } else {
    pes.assign(own.job.here.begin(), own.job.here.end());
    std::sort(pes.begin(), pes.end());
  }
  return pes;
}

uint32_t agree_on_generation(core::Comm& comm, const std::vector<rma::WindowPart>& parts) {
  uint32_t largest = 0;
  for (const rma::WindowPart& part : parts) largest = std::max(largest, part.generation);
  coll::Vote vote{~uint64_t{largest}, 0};
  check("shmem_init", coll::agree(coll::founders_of(comm), vote));
  return static_cast<uint32_t>(~vote.offer);
}

void show(rma::Window& window, const std::vector<int32_t>& pes, const std::vector<rma::WindowPart>& parts) {
  rma::open(window, pes, parts, agree_on_generation(*window.comm, parts));
  check("shmem_init", rma::lock_all(window, false));
}

void close(rma::Window*& window) {
  check("shmem_finalize", rma::unlock_all(*window));
  rma::close(*window);
  delete window;
  window = nullptr;
}

}  // namespace

void open_windows(core::Comm& comm, core::Comm& second, char* heap, uint64_t heap_bytes) {
  WindowParts mine;
  const StaticData data = static_data();
  rma::Window* on_heap = describe(comm, heap, heap_bytes, mine.heap);
  rma::Window* on_data = describe(second, data.base, data.bytes, mine.data);
  const std::vector<int32_t> pes = pes_here();
  coll::Founders here = coll::founders_of(comm);
  here.size = static_cast<int32_t>(pes.size());
  here.place = static_cast<int32_t>(std::lower_bound(pes.begin(), pes.end(), comm.rank) - pes.begin());
  here.ranks = pes.data();
  std::vector<WindowParts> all(pes.size());
  check("shmem_init", coll::gather_all(here, &mine, sizeof mine, all.data()));
  std::vector<rma::WindowPart> heaps;
  std::vector<rma::WindowPart> datas;
  for (const WindowParts& parts : all) {
    heaps.push_back(parts.heap);
    datas.push_back(parts.data);
  }
  show(*on_heap, pes, heaps);
  show(*on_data, pes, datas);
  heap_window = on_heap;
  data_window = on_data;
}

void close_windows() {
  for (Context& context : contexts) {
    ContextWindows* const way = context.way.exchange(nullptr, std::memory_order_relaxed);
    if (way == nullptr) continue;
    rma::close_view(way->data);
    rma::close_view(way->heap);
    delete way;
  }
  close(data_window);
  close(heap_window);
}

char* mapped_heap(int32_t pe) {
  return heap_window->targets[pe].region.mapped;
}

}  // namespace weft::shmem
