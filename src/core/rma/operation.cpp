// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations: whether they are allowed, and by which way their target is reached.

#include "core/memory/direct.hpp"
#include "core/memory/on_device.hpp"
#include "core/memory/runs.hpp"
#include "core/message/completion.hpp"
#include "core/protocol/p2p.hpp"
#include "core/rma/epoch.hpp"
#include "core/rma/global.hpp"
#include "core/rma/lock.hpp"
#include "core/rma/messages.hpp"
#include "core/rma/transfer.hpp"
#include "device/api/device.hpp"

namespace weft::core::rma {
namespace {

using memory::Pieces;

// Whether each piece of the data is in memory that the target attached, as its gaps need not be.
bool are_attached(const Attached& attached, const Remote& place) {
  const int64_t bytes = place.count * place.type->size;
  for (int64_t position = 0; position < bytes;) {
    Pieces pieces;
    collect(place, position, bytes - position, Pieces::most, pieces);
    for (int i = 0; i < pieces.count; ++i) {
      const memory::Run& run = pieces.runs[i];
      if (!attached.holds(run.offset, run.offset + run.bytes)) return false;
    }
    position += pieces.bytes;
  }
  return true;
}

// Whether the data are inside the target's window.
bool is_inside(const Target& target, const Remote& place, bool dynamic) {
  const memory::DataSpan span = memory::span_of(*place.type, place.count);
  int64_t from = 0;
  int64_t to = 0;
  if (__builtin_add_overflow(place.offset, span.from, &from) || __builtin_add_overflow(place.offset, span.to, &to)) {
    return false;
  }
  if (from < 0 || static_cast<uint64_t>(to) > target.region.bytes) return false;
  // Other hosts are asked by the operation itself.
  return !dynamic || target.control == nullptr || span.from == span.to ||
         target.control->attached().holds(static_cast<uint64_t>(from), static_cast<uint64_t>(to)) ||
         (!place.type->contiguous && are_attached(target.control->attached(), place));
}

// The kernel has no way to memory of a device, and is not asked for any of a window that has some.
void keep_from_device(Target& target) {
  if (target.control == nullptr || target.region.reach.load(std::memory_order_relaxed) != Reach::kernel) return;
  if (target.control->attached().on_device.load(std::memory_order_relaxed) != 0)
    target.region.reach.store(Reach::messages, std::memory_order_relaxed);
}

int32_t begin(Window& window, const Remote& place) {
  if (const int32_t error = allow(window, place.rank)) return error;
  const bool dynamic = window.flavor == Flavor::dynamic;
  Target& target = meet(window, place.rank);
  if (!is_inside(target, place, dynamic)) return rma_range;
  if (dynamic) keep_from_device(target);
  return no_error;
}

Update update_of(Window& window, const Target& target, const Remote& to, datatype::Reduction reduction,
                 const Type& element) {
  const Element unit = memory::element_of(element);
  const Update update{unit, reduction, unit.kernel(reduction), window.control->busy, is_alone(target)};
  prepare_update(window, target, update, to.count * to.type->size);
  return update;
}

bool has_failed_copy() {
  return device::on() && device::take_failure();
}

// The caller's part is over.
int32_t over(int32_t error, Request* request) {
  if (has_failed_copy()) [[unlikely]]
    error = other_error;
  if (error == no_error && request != nullptr) core::complete(*request);
  return error;
}

// The caller's part of an operation that was done here is over.
int32_t over(GlobalGuard& global, int32_t error, Request* request) {
  global.release();
  return over(error, request);
}

}  // namespace

int32_t put(Window& window, const Local& from, const Remote& to, Request* request) {
  if (const int32_t error = begin(window, to)) return error;
  GlobalGuard global;
  if (memory::put(window.targets[to.rank].region, from, to)) return over(global, no_error, request);
  global.release();
  if (is_transfer(window, to, from.bytes)) return transfer_put(window, from, to, request);
  send_put(window, from, to);
  return over(no_error, request);
}

int32_t get(Window& window, const Local& to, const Remote& from, Request* request) {
  if (const int32_t error = begin(window, from)) return error;
  GlobalGuard global;
  if (memory::get(window.targets[from.rank].region, to, from)) return over(global, no_error, request);
  global.release();
  if (is_transfer(window, from, to.bytes)) return transfer_get(window, to, from, request);
  return ask_for(window, to, from, request);
}

void update_one(const Window& window, const Target& target, const Type& element, datatype::Reduction reduction,
                const void* in, char* there, void* old) {
  const Element unit = memory::element_of(element);
  const Update update{unit, reduction, unit.kernel(reduction), window.control->busy, is_alone(target)};
  memory::update_here(target.region, update, in, there, old, 1);
}

int32_t accumulate(Window& window, const Local& from, const Remote& to, datatype::Reduction reduction,
                   const Type& element, Request* request) {
  if (const int32_t refused = begin(window, to)) return refused;
  Target& target = window.targets[to.rank];
  GlobalGuard global;
  const Update update = update_of(window, target, to, reduction, element);
  int32_t error = no_error;
  if (memory::update(target.region, update, from, nullptr, to, error)) return over(global, error, request);
  global.release();
  send_update(window, update, from, to);
  return over(no_error, request);
}

int32_t get_accumulate(Window& window, const Local& from, const Local& result, const Remote& to,
                       datatype::Reduction reduction, const Type& element, Request* request) {
  if (const int32_t refused = begin(window, to)) return refused;
  Target& target = window.targets[to.rank];
  GlobalGuard global;
  const Update update = update_of(window, target, to, reduction, element);
  int32_t error = no_error;
  if (memory::update(target.region, update, from, &result, to, error)) return over(global, error, request);
  global.release();
  error = ask_for_update(window, update, from, result, to, request);
  if (has_failed_copy()) [[unlikely]]
    target.failed.store(other_error, std::memory_order_relaxed);  // the answers come, so the next flush tells it
  return error;
}

int32_t compare_and_swap(Window& window, const void* value, const void* compare, void* result, const Type& element,
                         const Remote& to) {
  if (const int32_t error = begin(window, to)) return error;
  GlobalGuard global;
  const Element unit = memory::element_of(element);
  const bool on_device = !window.comm->host_memory && device::owns(result);
  unsigned char old[memory::element_most];
  void* const found = on_device ? old : result;
  if (memory::compare_swap(window.targets[to.rank].region, unit, window.control->busy, value, compare, found, to)) {
    if (on_device) memory::move_bytes(result, old, static_cast<size_t>(unit.size()));
    return over(global, no_error, nullptr);
  }
  global.release();
  return ask_to_swap(window, unit, value, compare, result, to);
}

}  // namespace weft::core::rma
