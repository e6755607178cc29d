// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Exchange buffers of a shared region (coll/shm/shared_region.hpp): memory of a communicator on one host for
// nonblocking and persistent operations on small data (coll/shm/shm_nonblocking.hpp), of which several may be in flight
// at once. The ranks set them up in the background, in the first operation that wants it.
//
// An operation has an exchange buffer: a place for each rank, where the rank lays its data for the others once.
// Exchange buffers stand in rows: one for the nonblocking operations of the communicator, and one for each persistent
// operation. The operations of a row have numbers, counted alike on all ranks, and take the row's exchange buffers in
// turn. A rank may lay its data in a place again when all ranks have finished the operation that the place was used for
// before; each rank tells in one word how many operations of a row it has finished, all before them too.
//
// Ranks finish operations in any order, but no rank gets further ahead than there are exchange buffers: every operation
// has data of a rank that has waited for all.
//
// A place tells the operation and its bytes, so that ranks that disagree about them end with an error.

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/lock.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/shm/member_wakeup.hpp"
#include "core/memory/region.hpp"

namespace weft::coll {

class ExchangeBuffers {
 public:
  static constexpr int64_t place_bytes = 240;
  static constexpr int32_t persistent_rows = 16;

  // The communicator's; without memory for the object the process ends, since the others would wait for it.
  [[nodiscard]] static ExchangeBuffers& of(core::Comm& comm);
  ~ExchangeBuffers();
  // Whether the next operation may have an exchange buffer; the same on all ranks when they plan it.
  [[nodiscard]] static bool may_take(const core::Comm& comm, bool repeats);

  // Found in the background, by whichever operation of this rank starts first.
  enum class BuffersState : uint8_t { unfounded, here, none };
  BuffersState state() const { return state_.load(std::memory_order_acquire); }
  void found();

  int32_t size() const { return size_; }
  int32_t rank() const { return rank_; }

  // When an operation is planned: its row; no_row for persistent ones beyond those that have rows. All ranks take one
  // for each operation that may be done in an exchange buffer, whether it is or not. And its number there, of a
  // persistent one each time that it is performed.
  static constexpr int32_t no_row = -1;
  [[nodiscard]] int32_t take_row(bool repeats);
  [[nodiscard]] int64_t next(int32_t row);

  // Whether our place in the exchange buffer of an operation may be written.
  [[nodiscard]] bool is_free(int32_t row, int64_t number);
  [[nodiscard]] unsigned char* place(int32_t row, int64_t number);
  void post(int32_t row, int64_t number, uint64_t about);
  // Whether a rank has posted in an operation, and then what.
  [[nodiscard]] bool has_posted(int32_t rank, int32_t row, int64_t number) const;
  [[nodiscard]] uint64_t about(int32_t rank, int32_t row, int64_t number) const;
  [[nodiscard]] const unsigned char* data(int32_t rank, int32_t row, int64_t number) const;
  // We read nothing more of it.
  void finish(int32_t row, int64_t number);

  // The error class by which a rank is lost; no_error.
  [[nodiscard]] int32_t lost(int32_t rank) const;

 private:
  static constexpr int32_t rows = 1 + persistent_rows;
  static constexpr int32_t buffers_of_first = 16;
  static constexpr int32_t buffers_of_others = 2;
  static constexpr int32_t places = buffers_of_first + persistent_rows * buffers_of_others;
  struct ExchangeSlot {
    std::atomic<int64_t> number;  // of the operation that it was posted for last
    uint64_t about;
    unsigned char data[place_bytes];
  };
  static_assert(sizeof(ExchangeSlot) == 256);
  struct alignas(128) ExchangeBoard {
    ExchangeSlot place[places];
    std::atomic<int64_t> finished[rows];  // operations, each of them and all before
  };
  struct alignas(128) BuffersHead {
    std::atomic<int32_t> left;  // ranks that use it no more
  };
  // This rank's view of a row.
  struct BufferRow {
    int64_t count = 0;              // operations that have a number
    int64_t finished = 0;           // as we have told
    std::atomic<int64_t> floor{0};  // all ranks have finished these
    uint64_t ahead = 0;             // those finished behind the first that is not, by number modulo 64
  };
  struct Founding;

  explicit ExchangeBuffers(core::Comm& comm);
  static int32_t buffers_of(int32_t row) { return row == 0 ? buffers_of_first : buffers_of_others; }
  static int32_t index(int32_t row, int64_t number);
  ExchangeSlot& at(int32_t rank, int32_t row, int64_t number) const { return boards_[rank].place[index(row, number)]; }
  static bool founded(core::Request& request);

  core::Comm& comm_;
  const int32_t size_;
  const int32_t rank_;
  MemberWakeup wakeup_;
  std::atomic<BuffersState> state_{BuffersState::unfounded};
  std::atomic<bool> begun_{false};  // to found it
  std::unique_ptr<Founding> founding_;
  BuffersHead* head_ = nullptr;
  ExchangeBoard* boards_ = nullptr;
  void* our_memory_ = nullptr;  // of the rank that allocated it
  base::Lock finishing_;
  int32_t rows_taken_ = 1;
  BufferRow rows_[rows];
};

}  // namespace weft::coll
