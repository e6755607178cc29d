// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/window.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/fence.hpp"
#include "base/message.hpp"
#include "core/identity.hpp"
#include "core/memory/shared.hpp"
#include "core/rma/names.hpp"
#include "core/rma/outbox.hpp"
#include "core/rma/serve.hpp"
#include "core/rma/view.hpp"
#include "core/waiting.hpp"

namespace weft::core::rma {
namespace {

size_t targets_bytes(const Window& window) {
  return static_cast<size_t>(window.size) * sizeof(Target);
}

// The target has told its shape: once, though several threads may have asked.
void note(Window& window, Target& target, uint64_t bytes, uint64_t unit) {
  std::lock_guard guard(window.guard);
  if (target.met.load(std::memory_order_relaxed)) return;
  target.region.bytes = bytes;
  target.unit = unit;
  target.met.store(true, std::memory_order_release);
}

// Maps memory of a device; nullptr: its owner performs all operations on it.
char* map_device(Window& window, int32_t owner, const Part& part) {
  if (!device::on() || part.shared.bytes == 0) return nullptr;
  std::string problem;
  device::Mapping* const mapping = device::hold(owner, part.shared, problem);
  if (mapping == nullptr) {
    base::warn_once("device_window_map",
                    {.cause = "memory of the device of another rank of this host cannot be mapped: " + problem,
                     .remedy = "one-sided operations on it are performed by that rank when it is in a call of MPI"});
    return nullptr;
  }
  window.mappings.push_back(mapping);
  return static_cast<char*>(device::here(*mapping, part.shared, part.address, part.bytes));
}

// Of this host: how its memory is reached.
void open_target(Window& window, int32_t rank, const Part& part) {
  Target& target = window.targets[rank];
  const int32_t job_rank = window.comm->job_rank(rank);
  const bool own = job_rank == identity->rank;
  target.word_unit = part.unit;
  target.words = part.bytes < 8 ? 0 : part.bytes - 7;
  target.control = own ? window.control : reinterpret_cast<Control*>(memory::map(job_rank, part.control));
  memory::Region& region = target.region;
  note(window, target, part.bytes, part.unit);
  region.job_rank = job_rank;
  if (target.control == nullptr) return;  // it cannot be mapped: by messages, as on other hosts
  region.updates = &target.control->updates;
  if (part.on_device != 0) {
    region.mapped = own ? window.base : map_device(window, job_rank, part);
    if (region.mapped != nullptr) region.reach = Reach::device;
    return;
  }
  region.memory = part.memory;
  region.atomics = part.memory.key != MemoryRef::no_key && window.flavor != Flavor::dynamic;
  region.mapped = own ? window.base : region.atomics ? memory::map(part.holder, part.memory) : nullptr;
  region.reach = own || region.mapped != nullptr ? Reach::mapped : Reach::kernel;
}

// Waits for the shape of a target.
class Introduction : private Awaited {
 public:
  explicit Introduction(const Window& window, int32_t rank) : Awaited(on_answer) {
    tell(window, rank, Action::meet, cookie_of(*this, 0));
    wait_until([this] { return told_.load(std::memory_order_acquire); });
  }
  const Shape& shape() const { return shape_; }

 private:
  static bool on_answer(Awaited& awaited, const Answer& answer, const char* data) {
    auto& introduction = static_cast<Introduction&>(awaited);
    if (answer.bytes == sizeof(Shape)) std::memcpy(&introduction.shape_, data, sizeof(Shape));
    introduction.told_.store(true, std::memory_order_release);  // it may be gone now
    return true;
  }

  Shape shape_{0, 1};
  std::atomic<bool> told_ = false;
};

}  // namespace

bool reserve_targets(Window& window) {
  void* memory =
      mmap(nullptr, targets_bytes(window), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  (void)madvise(memory, targets_bytes(window), MADV_NOHUGEPAGE);  // a target costs a page, not 2 MiB
  window.targets = static_cast<Target*>(memory);
  return true;
}

void release_targets(Window& window) {
  if (window.targets != nullptr) munmap(window.targets, targets_bytes(window));
  window.targets = nullptr;
}

bool allocate(Window& window, uint64_t bytes) {
  if (window.on_device) {
    window.base = static_cast<char*>(device::active->allocate(std::max<uint64_t>(bytes, 1)));
    window.owns_memory = window.base != nullptr;
    if (!window.owns_memory) window.grant.problem = "the device has no memory left, or no device is current";
    return window.owns_memory;
  }
  window.grant = grant_shared(bytes, window.wish);
  window.base = static_cast<char*>(window.grant.memory);
  window.owns_memory = window.base != nullptr;
  return window.owns_memory;
}

void prepare(Window& window, Flavor flavor, Part& part) {
  window.flavor = flavor;
  window.size = window.comm->size;
  window.rank = window.comm->rank;
  const Shape shape = shape_of(window);
  part = {.bytes = shape.bytes,
          .unit = shape.unit,
          .holder = identity->rank,
          .error = no_memory,
          .generation = propose_generation(),
          .fences = base::allow_fences() ? 1U : 0U,
          .on_device = window.on_device ? 1U : 0U,
          .unused = 0,
          .address = 0,
          .shared = {}};
  if (!reserve_targets(window)) return;
  const size_t waiting = sizeof(Control) + static_cast<size_t>(identity->places_here()) * sizeof(std::atomic<int32_t>);
  const size_t attached_at = (waiting + alignof(Attached) - 1) & ~(alignof(Attached) - 1);
  const size_t control_size = attached_at + (flavor == Flavor::dynamic ? sizeof(Attached) : 0);
  void* control = allocate_shared(control_size, 1);
  if (control == nullptr) return;
  std::memset(control, 0, control_size);
  window.control = static_cast<Control*>(control);
  window.control->attached_at = attached_at;
  if (flavor == Flavor::allocate) {
    if (!allocate(window, window.bytes)) return;
  }
  if (!window.on_device) {
    part.memory = memory::register_memory(window.base, window.bytes);
  } else if (device::active->share(window.base, part.shared).empty()) {
    part.address = reinterpret_cast<uintptr_t>(window.base);
  } else {
    part.shared.bytes = 0;
  }
  part.control = memory::register_memory(window.control, control_size);
  part.error = no_error;
}

void open(Window& window, const std::vector<int32_t>& ranks, const std::vector<Part>& parts, uint32_t generation) {
  bool can_fence = true;
  for (size_t i = 0; i < ranks.size(); ++i) {
    open_target(window, ranks[i], parts[i]);
    const Control* control = window.targets[ranks[i]].control;
    can_fence = can_fence && parts[i].fences != 0 && control != nullptr;
    if (can_fence) window.busy_here.push_back(&control->busy);
  }
  if (!can_fence) window.busy_here.clear();
  give_name(window, generation);
}

void ask_to_meet(Window& window, int32_t rank) {
  if (window.shows != nullptr) return meet_in_view(window, rank);
  const Introduction introduction(window, rank);
  note(window, window.targets[rank], introduction.shape().bytes, introduction.shape().unit);
}

Shape shape_of(const Window& window) {
  const bool dynamic = window.flavor == Flavor::dynamic;
  return {dynamic ? std::numeric_limits<uint64_t>::max() : window.bytes, static_cast<uint64_t>(window.unit)};
}

void close(Window& window) {
  forget_name(window);  // nobody uses the window any more, but a nudge may still lie in our ring
  drop_outboxes(window);
  release_targets(window);
  for (device::Mapping* mapping : window.mappings) device::let_go(mapping);
  window.mappings.clear();
  if (window.owns_memory) (void)(window.on_device ? device::active->release(window.base) : release_shared(window.base));
  if (window.control != nullptr) (void)release_shared(window.control);
  window.control = nullptr;
}

int32_t attach(Window& window, void* base, uint64_t bytes, bool on_device) {
  const auto begin = reinterpret_cast<uint64_t>(base);
  std::lock_guard guard(window.attaching);
  const auto overlaps = [&](const Piece& r) { return begin < r.end && r.begin < begin + bytes; };
  if (std::any_of(window.pieces.begin(), window.pieces.end(), overlaps)) return rma_attach;
  if (on_device) {
    window.on_device = true;
    window.comm->host_memory = false;
    window.targets[window.rank].region.reach.store(Reach::device, std::memory_order_relaxed);
    window.control->attached().on_device.store(1, std::memory_order_relaxed);
  }
  window.pieces.push_back({begin, begin + bytes});
  window.control->attached().publish(window.pieces);
  return no_error;
}

bool detach(Window& window, const void* base) {
  const auto begin = reinterpret_cast<uint64_t>(base);
  std::lock_guard guard(window.attaching);
  const auto at = std::find_if(window.pieces.begin(), window.pieces.end(),
                               [&](const Piece& piece) { return piece.begin == begin; });
  if (at == window.pieces.end()) return false;
  window.pieces.erase(at);
  window.control->attached().publish(window.pieces);
  return true;
}

// The release pairs with the acquire of the reader that finds the new version.
void Attached::publish(const std::vector<Piece>& all) {
  const uint32_t before = version.load(std::memory_order_relaxed);
  version.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // what follows is seen after this
  count.store(static_cast<uint32_t>(all.size()), std::memory_order_relaxed);
  for (size_t i = 0; i < std::min<size_t>(all.size(), most); ++i) {
    pieces[i].begin.store(all[i].begin, std::memory_order_relaxed);
    pieces[i].end.store(all[i].end, std::memory_order_relaxed);
  }
  version.store(before + 2, std::memory_order_release);
}

bool Attached::holds(uint64_t begin, uint64_t end) const {
  for (;;) {
    const uint32_t before = version.load(std::memory_order_acquire);
    const uint32_t all = count.load(std::memory_order_relaxed);
    const bool found =
        all > most || are_in_pieces(begin, end, all, [&](uint32_t i) {
          return Piece{pieces[i].begin.load(std::memory_order_relaxed), pieces[i].end.load(std::memory_order_relaxed)};
        });
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) return found;
  }
}

}  // namespace weft::core::rma
