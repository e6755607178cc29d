// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/create.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/fence.hpp"
#include "base/message.hpp"
#include "core/memory/shared.hpp"
#include "core/object/identity.hpp"
#include "core/progress/waiting.hpp"
#include "core/rma/names.hpp"
#include "core/rma/outbox.hpp"
#include "core/rma/serve.hpp"
#include "core/rma/view.hpp"

namespace weft::core::rma {
namespace {

// The target has told its shape: once, though several threads may have asked.
void note(Window& window, Target& target, uint64_t bytes, uint64_t unit) {
  std::lock_guard guard(window.guard);
  if (target.met.load(std::memory_order_relaxed)) return;
  target.region.bytes = bytes;
  target.unit = unit;
  target.met.store(true, std::memory_order_release);
}

// Maps memory of a device; nullptr: its owner performs all operations on it.
char* map_device(Window& window, int32_t owner, const WindowPart& part) {
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

// Opens a target of this host: chooses how its memory is reached.
void open_target(Window& window, int32_t rank, const WindowPart& part) {
  Target& target = window.targets[rank];
  const int32_t job_rank = window.comm->job_rank(rank);
  const bool own = job_rank == identity->rank;
  target.word_unit = part.unit;
  target.words = part.bytes < 8 ? 0 : part.bytes - 7;
  target.control = own ? window.control : reinterpret_cast<TargetControl*>(memory::map(job_rank, part.control));
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
  const TargetShape& shape() const { return shape_; }

 private:
  static bool on_answer(Awaited& awaited, const Answer& answer, const char* data) {
    auto& introduction = static_cast<Introduction&>(awaited);
    if (answer.bytes == sizeof(TargetShape)) std::memcpy(&introduction.shape_, data, sizeof(TargetShape));
    introduction.told_.store(true, std::memory_order_release);  // it may be gone now
    return true;
  }

  TargetShape shape_{0, 1};
  std::atomic<bool> told_ = false;
};

}  // namespace

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

void prepare(Window& window, Flavor flavor, WindowPart& part) {
  window.flavor = flavor;
  window.size = window.comm->size;
  window.rank = window.comm->rank;
  const TargetShape shape = shape_of(window);
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
  const size_t waiting =
      sizeof(TargetControl) + static_cast<size_t>(identity->places_here()) * sizeof(std::atomic<int32_t>);
  const size_t attached_at = (waiting + alignof(Attached) - 1) & ~(alignof(Attached) - 1);
  const size_t control_size = attached_at + (flavor == Flavor::dynamic ? sizeof(Attached) : 0);
  void* control = allocate_shared(control_size, 1);
  if (control == nullptr) return;
  std::memset(control, 0, control_size);
  window.control = static_cast<TargetControl*>(control);
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

void open(Window& window, const std::vector<int32_t>& ranks, const std::vector<WindowPart>& parts,
          uint32_t generation) {
  bool can_fence = true;
  for (size_t i = 0; i < ranks.size(); ++i) {
    open_target(window, ranks[i], parts[i]);
    const TargetControl* control = window.targets[ranks[i]].control;
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

void close(Window& window) {
  forget_name(window);  // nobody uses the window any more, but a wake-up may still lie in our ring
  drop_outboxes(window);
  release_targets(window);
  for (device::Mapping* mapping : window.mappings) device::let_go(mapping);
  window.mappings.clear();
  if (window.owns_memory) (void)(window.on_device ? device::active->release(window.base) : release_shared(window.base));
  if (window.control != nullptr) (void)release_shared(window.control);
  window.control = nullptr;
}

}  // namespace weft::core::rma
