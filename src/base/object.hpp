// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Every object a handle can point to begins with a word that says its kind and lies in the object arena, so that a
// wrong, freed or garbage handle is told from a good one by a range check and one comparison, without a crash.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace weft::base {

// The words are unlikely bit patterns: a handle into the middle of an object must not pass for another.
enum class Kind : uint32_t {
  free = 0,
  communicator = 0xc0a11001,
  group = 0x96091002,
  datatype = 0xda7a1003,
  request = 0x5e991004,
  message = 0x3e551005,
  op = 0x0be81006,
  errhandler = 0xe44a1007,
  info = 0x1bf01008,
  session = 0x5e551009,
  tool_enum = 0xe9c0100a,
  control_variable = 0xc7a1100b,
  variable_session = 0x7a55100c,
  performance_variable = 0x9e1f100d,
  event_registration = 0xe7e9100e,
  event_instance = 0xe715100f,
  window = 0x319d1010,
  shmem_team = 0x7ea31011,
  file = 0xf11e1012,
  stream = 0x57ea1013,
  stream_request = 0x5e591014,
};

struct Object {
  Kind kind = Kind::free;
};

// The arena: one reserved range of addresses, committed as it fills, slots of 64-byte multiples. Freed slots keep
// Kind::free and are reused for objects of the same size. A released slot is zeroed at once, so that no line of it
// looks like an object to a stale handle. Thread-safe.
class Arena {
 public:
  static constexpr size_t slot_align = 64;

  // Memory for an object of `bytes`, zeroed; nullptr when there is none.
  [[nodiscard]] static void* allocate(size_t bytes);
  static void release(void* object, size_t bytes);

  // Whether `address` may be read as an Object: aligned, and among the slots that were handed out.
  static bool holds(uintptr_t address) {
    size_t used = used_.load(std::memory_order_acquire);  // pairs with the release in allocate(): base_ is then set
    return address - base_.load(std::memory_order_relaxed) < used && (address & (slot_align - 1)) == 0;
  }

  // The position of an address that holds() takes, below 2^30, and the way back.
  static uint32_t number_of(uintptr_t address) {
    return static_cast<uint32_t>((address - base_.load(std::memory_order_relaxed)) / slot_align);
  }
  static uintptr_t address_of(uint32_t number) {
    return base_.load(std::memory_order_relaxed) + uintptr_t{number} * slot_align;
  }
  // Code outside of this library that computes the same needs it.
  static constexpr const std::atomic<uintptr_t>* base_place() { return &base_; }

 private:
  static inline constinit std::atomic<uintptr_t> base_ = 1;  // until the first allocation nothing is inside
  static inline constinit std::atomic<size_t> used_ = 0;
  friend struct ArenaGrowth;
};

template <class T, class... Args>
[[nodiscard]] T* make_object(Args&&... args) {
  void* slot = Arena::allocate(sizeof(T));
  return slot ? ::new (slot) T(static_cast<Args&&>(args)...) : nullptr;
}

template <class T>
void destroy_object(T* object) {
  object->~T();
  object->kind = Kind::free;
  Arena::release(object, sizeof(T));
}

}  // namespace weft::base
