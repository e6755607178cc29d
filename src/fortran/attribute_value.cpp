// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/attribute_value.hpp"

#include <mutex>

namespace weft::fortran {
namespace {

union ValueSlot {
  MPI_Aint value;
  ValueSlot* next_free;
};

struct SlotBlock {
  static constexpr size_t room = 511;
  ValueSlot places[room];
  SlotBlock* next;

  // Not an address within one of them, which C may have computed.
  bool holds(const void* address) const {
    const uintptr_t from = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(places);
    return from % sizeof(ValueSlot) == 0 && from / sizeof(ValueSlot) < room;
  }
};

constinit std::mutex guard;
constinit SlotBlock* blocks = nullptr;
constinit ValueSlot* free_places = nullptr;

// ---- Functions whose caller holds the lock

void release(ValueSlot* place) {
  place->next_free = free_places;
  free_places = place;
}

bool is_ours(const void* address) {
  const SlotBlock* block = blocks;
  while (block != nullptr && !block->holds(address)) block = block->next;
  return block != nullptr;
}

}  // namespace

void* attribute_of(MPI_Aint value) {
  const std::lock_guard lock(guard);
  if (free_places == nullptr) {
    auto* block = new (std::nothrow) SlotBlock;
    if (block == nullptr) return nullptr;
    block->next = blocks;
    blocks = block;
    for (ValueSlot& place : block->places) release(&place);
  }
  ValueSlot* place = free_places;
  free_places = place->next_free;
  place->value = value;
  return place;
}

MPI_Aint value_of(const void* attribute) {
  const std::lock_guard lock(guard);
  return is_ours(attribute) ? static_cast<const ValueSlot*>(attribute)->value : reinterpret_cast<MPI_Aint>(attribute);
}

bool set_by_fortran(const void* attribute) {
  const std::lock_guard lock(guard);
  return is_ours(attribute);
}

void drop(void* attribute) {
  const std::lock_guard lock(guard);
  if (is_ours(attribute)) release(static_cast<ValueSlot*>(attribute));
}

}  // namespace weft::fortran
