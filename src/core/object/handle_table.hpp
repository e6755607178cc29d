// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Numbers for objects that peers name in their messages. An address that travelled and came back would be followed
// whatever it is by then; a number is looked up. Each holds an index and a generation, which advances when the object
// leaves the table: a late frame names an object that is gone, and finds nothing.
//
// Any thread may call any function. The table does not keep its objects alive: the caller of find() knows that the
// object it gets is not removed meanwhile, as when both happen under the lock of the same lane.

#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "base/lock.hpp"

namespace weft::core {

template <class Object>
class HandleTable {
 public:
  static constexpr uint64_t none = 0;  // never the number of an object

  HandleTable() = default;
  ~HandleTable() { std::free(slots_); }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  // The number of the object from now on; `none` when there is no memory.
  [[nodiscard]] uint64_t add(Object& object) {
    std::lock_guard guard(lock_);
    if (free_ == end && !grow()) return none;
    const uint32_t index = free_;
    Slot& slot = slots_[index];
    free_ = slot.next_free;
    slot.object = &object;
    return uint64_t{slot.generation} << 32 | index;
  }

  // The object of this number; nullptr: it was removed, or never added.
  [[nodiscard]] Object* find(uint64_t number) const {
    std::lock_guard guard(lock_);
    const Slot* slot = slot_of(number);
    return slot == nullptr ? nullptr : slot->object;
  }

  // The object that had this number; nullptr as for find(). The number finds nothing any more.
  Object* remove(uint64_t number) {
    std::lock_guard guard(lock_);
    Slot* slot = slot_of(number);
    if (slot == nullptr) return nullptr;
    Object* const object = slot->object;
    slot->object = nullptr;
    if (++slot->generation == 0) slot->generation = 1;  // so that no number is `none`
    slot->next_free = free_;
    free_ = static_cast<uint32_t>(number);
    return object;
  }

 private:
  struct Slot {
    Object* object;
    uint32_t generation;
    uint32_t next_free;
  };
  static constexpr uint32_t end = UINT32_MAX;

  Slot* slot_of(uint64_t number) const {
    const auto index = static_cast<uint32_t>(number);
    if (index >= count_) return nullptr;
    Slot& slot = slots_[index];
    return slot.object != nullptr && slot.generation == number >> 32 ? &slot : nullptr;
  }

  bool grow() {
    const uint32_t more = count_ == 0 ? 16 : count_;
    if (count_ > (end >> 1)) return false;
    void* memory = std::realloc(slots_, sizeof(Slot) * (size_t{count_} + more));
    if (memory == nullptr) return false;
    slots_ = static_cast<Slot*>(memory);
    for (uint32_t i = count_ + more; i-- > count_;) {
      slots_[i] = {nullptr, 1, free_};
      free_ = i;
    }
    count_ += more;
    return true;
  }

  mutable base::Lock lock_;
  Slot* slots_ = nullptr;
  uint32_t count_ = 0;
  uint32_t free_ = end;
};

}  // namespace weft::core
