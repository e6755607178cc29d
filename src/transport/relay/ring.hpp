// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A ring of items from one process to another of the host. One side writes, the other reads; each trusts its own count
// alone, and takes the other's for what it is: a number in memory that others can write.
//
// Roles: one thread at a time writes, one reads. The writer's store of `written` (release) pairs with the reader's load
// (acquire): the items before it are there. The reader's store of `taken` (release) pairs with the writer's load
// (acquire): the places before it may be written again.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::transport::relay {

// The kinds of items in a rank's ring to the host proxy, and in the host proxy's ring to a rank.
enum class ItemKind : uint32_t {
  none = 0,
  frame = 1,  // both: in buffer `number`, from `at` on; outward for `rank` at `host` of the rank's own count
  word = 2,   // outward: likewise, in the rank's own page
  host = 3,   // outward: the page holds the address, of `bytes`, of the rank's next host, `number`
  back = 4,   // outward: the buffer `number`, which came in, is no longer in use
  lost = 5,   // inward: a frame to `rank` could not be delivered: `error`
};

struct Item {
  ItemKind what = ItemKind::none;
  uint32_t number = 0;
  uint32_t at = 0;
  uint32_t bytes = 0;
  uint32_t host = 0;
  uint32_t rank = 0;
  int32_t error = 0;
  uint32_t reserved = 0;
};
static_assert(sizeof(Item) == 32);

struct ItemRingControl {
  alignas(64) std::atomic<uint32_t> written;
  alignas(64) std::atomic<uint32_t> taken;
};
static_assert(sizeof(ItemRingControl) == 128);

// `room` is a power of two.
class ItemRingWriter {
 public:
  void open(ItemRingControl& control, Item* items, uint32_t room) {
    control_ = &control;
    items_ = items;
    room_ = room;
    written_ = control.written.load(std::memory_order_relaxed);
  }
  // The number of items that may be written; 0 if the reader counts wrongly.
  uint32_t room() const {
    const uint32_t held = written_ - control_->taken.load(std::memory_order_acquire);
    return held <= room_ ? room_ - held : 0;
  }
  // false: it is full.
  [[nodiscard]] bool write(const Item& item) {
    if (room() == 0) return false;
    items_[written_ & (room_ - 1)] = item;
    control_->written.store(++written_, std::memory_order_release);
    return true;
  }

 private:
  ItemRingControl* control_ = nullptr;
  Item* items_ = nullptr;
  uint32_t room_ = 0;
  uint32_t written_ = 0;
};

class ItemRingReader {
 public:
  void open(ItemRingControl& control, const Item* items, uint32_t room) {
    control_ = &control;
    items_ = items;
    room_ = room;
    taken_ = control.taken.load(std::memory_order_relaxed);
  }
  // A copy, which the writer cannot change while it is checked. false: there is none.
  [[nodiscard]] bool read(Item& item) {
    const uint32_t there = control_->written.load(std::memory_order_acquire) - taken_;
    if (there == 0 || there > room_) return false;
    item = items_[taken_ & (room_ - 1)];
    control_->taken.store(++taken_, std::memory_order_release);
    return true;
  }
  // Whether the writer claims to have written more than the ring holds.
  bool is_damaged() const { return control_->written.load(std::memory_order_relaxed) - taken_ > room_; }

 private:
  ItemRingControl* control_ = nullptr;
  const Item* items_ = nullptr;
  uint32_t room_ = 0;
  uint32_t taken_ = 0;
};

}  // namespace weft::transport::relay
