// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/direct.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/copy.hpp"
#include "base/copy_threads.hpp"
#include "core/memory/on_device.hpp"
#include "core/memory/runs.hpp"
#include "core/object/request.hpp"
#include "core/peer/peer.hpp"
#include "datatype/pack.hpp"

namespace weft::core::memory {
namespace {

constexpr int64_t piece_most = 64 << 10;  // of data that have to be packed first

transport::Endpoint& way_to(const Region& region) {
  return *peers->of(region.job_rank).endpoint;
}

// Packed bytes of the caller's data: where they lie, or packed into `room`.
const void* packed(const Local& from, int64_t position, void* room, int64_t bytes) {
  if (from.count == 0) return room;  // Reduction::no_op reads nothing
  if (from.is_plain()) return static_cast<const char*>(from.buffer) + position;
  datatype::packing(from.on_device)(*from.type, from.count, from.buffer, position, room, bytes);
  return room;
}
void unpack(const Local& to, int64_t position, const void* data, int64_t bytes) {
  if (to.is_plain()) {
    base::copy(static_cast<char*>(to.buffer) + position, data, static_cast<size_t>(bytes));
  } else {
    datatype::unpacking(to.on_device)(*to.type, to.count, to.buffer, position, data, bytes);
  }
}

// Memory for pieces that have to be packed.
class PackMemory {
 public:
  explicit PackMemory(int64_t bytes) : memory_(static_cast<char*>(std::malloc(static_cast<size_t>(bytes)))) {}
  ~PackMemory() { std::free(memory_); }
  PackMemory(const PackMemory&) = delete;
  PackMemory& operator=(const PackMemory&) = delete;
  char* get() const { return memory_; }

 private:
  char* memory_;
};

void* at(const Region& region, const RegionData& place) {
  return place_behind(region.mapped, static_cast<uint64_t>(place.offset));
}

// ---- through our address space

void copy_in(const Region& region, const Local& from, const RegionData& to, bool lies_on_device = false) {
  if (from.bytes == 0) return;
  if (from.is_plain() && to.type->contiguous && !lies_on_device) {
    base::copy_by_threads(at(region, to), from.buffer, static_cast<size_t>(from.bytes));
  } else {
    const auto copy = datatype::copying(from.on_device || lies_on_device);
    copy(*from.type, from.count, from.buffer, *to.type, to.count, at(region, to), from.bytes);
  }
}

void copy_out(const Region& region, const Local& to, const RegionData& from, bool lies_on_device = false) {
  if (to.bytes == 0) return;
  if (from.type->contiguous && to.is_plain() && !lies_on_device) {
    base::copy_by_threads(to.buffer, at(region, from), static_cast<size_t>(to.bytes));
  } else {
    const auto copy = datatype::copying(to.on_device || lies_on_device);
    copy(*from.type, from.count, at(region, from), *to.type, to.count, to.buffer, to.bytes);
  }
}

// Goes through the data of an update piece by piece: at most `most` bytes together, whole elements.
template <class Do>
void for_pieces(const Update& update, const RegionData& to, int64_t most, Do&& each) {
  const int64_t bytes = to.count * to.type->size;
  const int64_t size = update.element.size();
  most -= most % size;
  for (int64_t position = 0; position < bytes;) {
    Pieces pieces;
    const int64_t some = std::min(most, bytes - position);
    if (update.element.has_gaps()) {
      collect_elements(to, update.element, position, some, Pieces::most, pieces);
    } else {
      collect(to, position, some, Pieces::most, pieces);
    }
    for (int i = 0; i < pieces.count; ++i) {
      if (!each(pieces.runs[i], position)) return;
      position += static_cast<int64_t>(pieces.runs[i].bytes);
    }
  }
}

int32_t update_mapped(const Region& region, const Update& update, const Local& from, const Local* result,
                      const RegionData& to, decltype(update_here)& update_there) {
  const bool plain_result = result == nullptr || result->is_plain();
  const bool needs_room = !from.is_plain() || !plain_result;
  const int64_t bytes = to.count * to.type->size;
  const int64_t most = needs_room ? std::min(bytes, piece_most) : std::max<int64_t>(bytes, 1);
  if (bytes == 0) return no_error;
  const PackMemory room(needs_room ? 2 * most : 1);
  if (room.get() == nullptr) return no_memory;
  for_pieces(update, to, most, [&](const Run& run, int64_t position) {
    const auto some = static_cast<int64_t>(run.bytes);
    char* old = nullptr;
    if (result != nullptr) old = plain_result ? static_cast<char*>(result->buffer) + position : room.get() + most;
    const void* in = packed(from, position, room.get(), some);
    update_there(region, update, in, place_behind(region.mapped, run.offset), old, some / update.element.size());
    if (!plain_result) unpack(*result, position, old, some);
    return true;
  });
  return no_error;
}

// ---- by the kernel: 0, or the errno of its refusal

int kernel_put(const Region& region, const Local& from, const RegionData& to) {
  if (from.bytes == 0) return 0;
  transport::Endpoint& way = way_to(region);
  if (from.is_plain() && to.type->contiguous) {
    return way.put(advanced(region.memory, static_cast<uint64_t>(to.offset)), from.buffer,
                   static_cast<size_t>(from.bytes));
  }
  const PackMemory room(std::min(from.bytes, piece_most));
  if (room.get() == nullptr) return ENOMEM;
  for (int64_t position = 0; position < from.bytes;) {
    Pieces pieces;
    collect(to, position, std::min(piece_most, from.bytes - position), Pieces::most, pieces);
    const void* data = packed(from, position, room.get(), pieces.bytes);
    if (const int error = way.put_pieces(region.memory, pieces.runs, static_cast<size_t>(pieces.count), data)) {
      return error;
    }
    position += pieces.bytes;
  }
  return 0;
}

int kernel_get(const Region& region, const Local& to, const RegionData& from) {
  if (to.bytes == 0) return 0;
  transport::Endpoint& way = way_to(region);
  if (from.type->contiguous && to.is_plain()) {
    return way.get(advanced(region.memory, static_cast<uint64_t>(from.offset)), to.buffer,
                   static_cast<size_t>(to.bytes));
  }
  const PackMemory room(std::min(to.bytes, piece_most));
  if (room.get() == nullptr) return ENOMEM;
  for (int64_t position = 0; position < to.bytes;) {
    Pieces pieces;
    collect(from, position, std::min(piece_most, to.bytes - position), Pieces::most, pieces);
    if (const int error = way.get_pieces(region.memory, pieces.runs, static_cast<size_t>(pieces.count), room.get())) {
      return error;
    }
    unpack(to, position, room.get(), pieces.bytes);
    position += pieces.bytes;
  }
  return 0;
}

// Whole elements, from packed byte `position` on, as they lie in memory: at most `bytes` of data.
void collect_whole(const RegionData& to, const Element& element, int64_t position, int64_t bytes, Pieces& pieces) {
  if (!element.has_gaps()) return collect(to, position, bytes, Pieces::most, pieces);
  collect_elements(to, element, position, bytes, Pieces::most, pieces);
  for (int i = 0; i < pieces.count; ++i) pieces.runs[i].bytes = static_cast<uint64_t>(element.extent());
}

Stripes all_stripes_of(const Pieces& pieces) {
  Stripes stripes = 0;
  for (int i = 0; i < pieces.count; ++i) stripes |= stripes_of(pieces.runs[i].offset, pieces.runs[i].bytes);
  return stripes;
}

// Read, changed and written back, many elements at once.
int update_by_kernel(const Region& region, const Update& update, const Local& from, const Local* result,
                     const RegionData& to, int32_t& error) {
  transport::Endpoint& way = way_to(region);
  const Element& element = update.element;
  const int64_t bytes = to.count * to.type->size;
  const int64_t count = std::min(bytes, piece_most) / std::max(element.extent(), 1);
  const int64_t most = std::max<int64_t>(count, 1) * element.size();
  const PackMemory room(2 * most + std::max<int64_t>(count, 1) * element.extent());
  if (room.get() == nullptr) {
    error = no_memory;
    return 0;
  }
  char* const there = room.get() + 2 * most;
  char* const old = room.get() + most;
  for (int64_t position = 0; position < bytes;) {
    Pieces pieces;
    collect_whole(to, element, position, std::min(most, bytes - position), pieces);
    const int64_t elements = pieces.bytes / element.size();
    const auto runs = static_cast<size_t>(pieces.count);
    const void* in = packed(from, position, room.get(), pieces.bytes);
    {
      const Updating held(*region.updates, all_stripes_of(pieces));
      if (const int refused = way.get_pieces(region.memory, pieces.runs, runs, there)) return refused;
      if (result != nullptr) pack_elements(element, there, old, elements);
      if (update.reduction != datatype::Reduction::no_op) {
        update_elements(update, in, there, elements);
        if (const int refused = way.put_pieces(region.memory, pieces.runs, runs, there)) return refused;
      }
    }
    if (result != nullptr) unpack(*result, position, old, pieces.bytes);
    position += pieces.bytes;
  }
  return 0;
}

int swap_by_kernel(const Region& region, const Element& element, const void* value, const void* compare, void* result,
                   const RegionData& to) {
  transport::Endpoint& way = way_to(region);
  const MemoryRef place = advanced(region.memory, static_cast<uint64_t>(to.offset));
  const auto bytes = static_cast<size_t>(element.size());
  const Updating held(*region.updates, stripes_of(static_cast<uint64_t>(to.offset), bytes));
  if (const int refused = way.get(place, result, bytes)) return refused;
  return std::memcmp(result, compare, bytes) == 0 ? way.put(place, value, bytes) : 0;
}

// An operation that the kernel refused is done by messages, and so are all that follow.
bool is_done(Region& region, int refused) {
  if (refused == 0) return true;
  region.reach.store(Reach::messages, std::memory_order_relaxed);
  return false;
}

}  // namespace

bool put(Region& region, const Local& from, const RegionData& to) {
  switch (region.reach.load(std::memory_order_relaxed)) {
    case Reach::mapped:
      copy_in(region, from, to);
      return true;
    case Reach::device:
      copy_in(region, from, to, true);
      return true;
    case Reach::kernel:
      return is_done(region, kernel_put(region, from, to));
    default:
      return false;
  }
}

bool get(Region& region, const Local& to, const RegionData& from) {
  switch (region.reach.load(std::memory_order_relaxed)) {
    case Reach::mapped:
      copy_out(region, to, from);
      return true;
    case Reach::device:
      copy_out(region, to, from, true);
      return true;
    case Reach::kernel:
      return is_done(region, kernel_get(region, to, from));
    default:
      return false;
  }
}

bool update(Region& region, const Update& update, const Local& from, const Local* result, const RegionData& to,
            int32_t& error) {
  error = no_error;
  switch (region.reach.load(std::memory_order_relaxed)) {
    case Reach::mapped:
      error = update_mapped(region, update, from, result, to, update_here);
      return true;
    case Reach::device:
      error = update_mapped(region, update, from, result, to, update_on_device);
      return true;
    case Reach::kernel:
      return is_done(region, update_by_kernel(region, update, from, result, to, error));
    default:
      return false;
  }
}

bool compare_swap(Region& region, const Element& element, Busy& busy, const void* value, const void* compare,
                  void* result, const RegionData& to) {
  switch (region.reach.load(std::memory_order_relaxed)) {
    case Reach::mapped:
      swap_here(region, element, busy, value, compare, static_cast<char*>(at(region, to)), result);
      return true;
    case Reach::device:
      swap_on_device(region, element, value, compare, static_cast<char*>(at(region, to)), result);
      return true;
    case Reach::kernel:
      return is_done(region, swap_by_kernel(region, element, value, compare, result, to));
    default:
      return false;
  }
}

}  // namespace weft::core::memory
