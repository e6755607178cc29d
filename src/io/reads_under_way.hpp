// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The reads that were given to the kernel, by the tags with which it tells their results. A result is believed only if
// its tag is that of a read under way.

#include <cstdint>

namespace weft::io {

class PieceJob;

class ReadsUnderWay {
 public:
  static constexpr uint32_t most = 255;
  static constexpr uint64_t no_read = UINT64_MAX;  // the tag of none

  ReadsUnderWay() {
    for (uint32_t i = 0; i < most; ++i) slots_[i].next_free = i + 1;
  }

  [[nodiscard]] uint32_t count() const { return count_; }

  // The tag of a read; there are fewer than `most`.
  [[nodiscard]] uint64_t add(PieceJob& job) {
    const uint32_t index = free_;
    ReadSlot& slot = slots_[index];
    free_ = slot.next_free;
    slot.job = &job;
    ++slot.turn;
    ++count_;
    return tag_of(index);
  }

  // The read with this tag, which is over; nullptr: there is none.
  [[nodiscard]] PieceJob* end(uint64_t tag) {
    const auto index = static_cast<uint32_t>(tag & 0xffffffff);
    if (index >= most || slots_[index].job == nullptr || tag_of(index) != tag) return nullptr;
    ReadSlot& slot = slots_[index];
    PieceJob* job = slot.job;
    slot.job = nullptr;
    slot.next_free = free_;
    free_ = index;
    --count_;
    return job;
  }

 private:
  struct ReadSlot {
    PieceJob* job = nullptr;
    uint32_t turn = 0;  // reads that had the slot
    uint32_t next_free = 0;
  };

  [[nodiscard]] uint64_t tag_of(uint32_t index) const { return uint64_t{slots_[index].turn} << 32 | index; }

  ReadSlot slots_[most];
  uint32_t free_ = 0;
  uint32_t count_ = 0;
};

}  // namespace weft::io
