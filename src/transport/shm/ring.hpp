// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The receive ring: many writers, one reader, any number of processes.
//
// Cells of 32 bytes, two to a cache line, so that a stream of small messages moves half as many lines between cores as
// one with a line each (22 ns instead of 41 ns per 8-byte message on the machine it was measured on). A message
// occupies consecutive cells and never wraps: a pad fills the end of the ring. The first cell carries the publication
// word.
//
// Writer: reserve cells with one compare-and-swap on `tail` (or learn that the ring is full), write envelope and data,
// publish with one release store of the word (pairs with the reader's acquire load of the same word).
// Reader: polls one word. It is the next message's when it names the position read. A head cell keeps the word of the
// lap before, which names another; a continuation cell may hold any bits, so the reader clears its first word before it
// gives the cell back. The reader gives cells back with a release store of `head` (pairs with the writers' acquire
// load), a quarter of the ring at a time: the writers' line of `head` stays quiet.
//
// Progress: a writer that dies between reserve and publish stops the ring; the launcher ends such a job. A writer never
// waits. Order: messages of one writer thread are read in the order of their reservations.
//
// A ring of zero bytes is a valid empty ring, so peers may write before the owner has started.
// `Atomic` is a parameter so that tests run the ring under a scheduler that permutes interleavings.

#include <atomic>
#include <cstring>

#include "transport/api/transport.hpp"

namespace weft::transport::shm {

inline constexpr uint32_t cell_bytes = 32;
inline constexpr uint32_t inline_bytes = 8;  // data in a message's first cell
inline constexpr uint8_t pad_kind = 0xff;

// Cells that a message with `bytes` of data takes.
constexpr uint32_t cells_for(uint32_t bytes) {
  return (bytes + (cell_bytes - inline_bytes) + cell_bytes - 1) / cell_bytes;
}
static_assert(cells_for(0) == 1 && cells_for(8) == 1 && cells_for(9) == 2 && cells_for(40) == 2 && cells_for(41) == 3);

template <template <class> class Atomic = std::atomic>
struct Cell {
  Atomic<uint64_t> word;  // 0-31 position with the top bit set, 32-39 kind, 40-63 bytes of data (of a pad: cells)
  Envelope envelope;
  unsigned char data[inline_bytes];  // goes on in the following cells
};
static_assert(sizeof(Cell<>) == cell_bytes);
inline constexpr size_t data_offset = cell_bytes - inline_bytes;
static_assert(offsetof(Cell<>, data) == data_offset);

// The ring's shared words, each on lines of its own: writers meet on `tail`, the reader alone stores `head`.
template <template <class> class Atomic = std::atomic>
struct RingControl {
  alignas(128) Atomic<uint64_t> tail;  // next cell to reserve, counted since the start
  alignas(128) Atomic<uint64_t> head;  // cells before this one are free again
};
static_assert(sizeof(RingControl<>) == 256);

constexpr uint32_t name_of(uint64_t position) {
  return static_cast<uint32_t>(position) | 0x80000000;
}

constexpr uint64_t word_of(uint64_t position, uint8_t kind, uint32_t bytes) {
  return name_of(position) | (uint64_t{kind} << 32) | (uint64_t{bytes} << 40);
}

// Copies 0 to 8 bytes without a call.
inline void copy_small(unsigned char* to, const void* from, uint32_t n) {
  const auto* source = static_cast<const unsigned char*>(from);
  if (n == 8) [[likely]] {
    __builtin_memcpy(to, source, 8);
  } else if (n >= 4) {  // two moves that may overlap
    uint32_t first;
    uint32_t last;
    __builtin_memcpy(&first, source, 4);
    __builtin_memcpy(&last, source + n - 4, 4);
    __builtin_memcpy(to, &first, 4);
    __builtin_memcpy(to + n - 4, &last, 4);
  } else {
    for (uint32_t at = 0; at < n; ++at) to[at] = source[at];
  }
}

// Asks early for a line that will be written, which hides its way from the reader's cache. The address may lie behind
// the ring: a prefetch of nothing does nothing.
inline void prefetch_for_write(const void* address) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

// One process's view of another's ring, for writing. Threads of the process may share it.
template <template <class> class Atomic = std::atomic>
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(RingControl<Atomic>* control, Cell<Atomic>* cells, uint32_t cells_log2)
      : control_(control), cells_(cells), mask_((uint64_t{1} << cells_log2) - 1), limit_(mask_ + 1) {}

  // One attempt at a message of one cell, small enough to be inlined where it is worth it. False when another writer
  // was faster or when there may be no room: then write() decides.
  [[gnu::always_inline]] bool try_write(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) {
    Atomic<uint64_t>& tail = control_->tail;
    uint64_t position = tail.load(std::memory_order_relaxed);
    if (position < limit_.load(std::memory_order_acquire) &&
        tail.compare_exchange_strong(position, position + 1, std::memory_order_relaxed)) [[likely]] {
      fill(position, kind, envelope, data, bytes);
      return true;
    }
    return false;
  }

  Post write(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) {
    if (bytes > inline_bytes) return write_long(kind, envelope, data, bytes);
    uint64_t position = control_->tail.load(std::memory_order_relaxed);
    do {
      if (position >= limit_.load(std::memory_order_acquire) && !room(position, 1)) return Post::retry;
    } while (!control_->tail.compare_exchange_weak(position, position + 1, std::memory_order_relaxed));
    fill(position, kind, envelope, data, bytes);
    return Post::done;
  }

 private:
  static constexpr uint64_t prefetch_cells = 16;

  uint64_t size() const { return mask_ + 1; }
  Cell<Atomic>* at(uint64_t position) const { return cells_ + (position & mask_); }

  // Writes and publishes a message of one cell at a reserved position.
  [[gnu::always_inline]] void fill(uint64_t position, uint8_t kind, Envelope envelope, const void* data,
                                   uint32_t bytes) {
    Cell<Atomic>* cell = at(position);
    prefetch_for_write(cell + prefetch_cells);
    cell->envelope = envelope;
    copy_small(cell->data, data, bytes);
    cell->word.store(word_of(position, kind, bytes), std::memory_order_release);
  }

  // Whether `cells` from `position` are free, after a fresh look at the reader's head.
  [[gnu::noinline]] bool room(uint64_t position, uint64_t cells) {
    uint64_t head = control_->head.load(std::memory_order_acquire);
    limit_.store(head + size(), std::memory_order_release);  // pairs with the acquire loads: threads may share this
    return position + cells <= head + size();
  }

  [[gnu::noinline]] Post write_long(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) {
    const uint64_t cells = cells_for(bytes);
    uint64_t position = control_->tail.load(std::memory_order_relaxed);
    uint64_t pad;
    do {
      uint64_t left = size() - (position & mask_);
      pad = left < cells ? left : 0;
      uint64_t need = pad + cells;
      if (position + need > limit_.load(std::memory_order_acquire) && !room(position, need)) {
        return Post::retry;
      }
    } while (!control_->tail.compare_exchange_weak(position, position + pad + cells, std::memory_order_relaxed));
    if (pad != 0) {
      at(position)->word.store(word_of(position, pad_kind, static_cast<uint32_t>(pad)), std::memory_order_release);
      position += pad;
    }
    Cell<Atomic>* cell = at(position);
    cell->envelope = envelope;
    std::memcpy(reinterpret_cast<unsigned char*>(cell) + data_offset, data, bytes);
    cell->word.store(word_of(position, kind, bytes), std::memory_order_release);
    return Post::done;
  }

  RingControl<Atomic>* control_ = nullptr;
  Cell<Atomic>* cells_ = nullptr;
  uint64_t mask_ = 0;          // cells - 1; their number is a power of two
  Atomic<uint64_t> limit_{0};  // positions before it are free: the reader's head when last looked at, plus size
};

// The owner's side.
template <template <class> class Atomic = std::atomic>
class RingReader {
 public:
  RingReader() = default;
  RingReader(RingControl<Atomic>* control, Cell<Atomic>* cells, uint32_t cells_log2)
      : control_(control), cells_(cells), mask_((uint64_t{1} << cells_log2) - 1) {}

  bool empty() const {
    return static_cast<uint32_t>(at(head_)->word.load(std::memory_order_relaxed)) != name_of(head_);
  }

  // Hands the next message to `take`, if there is one. `take` may send, but not read this ring.
  template <class Take>
  bool read(Take&& take) {
    Cell<Atomic>* cell = at(head_);
    uint64_t word = cell->word.load(std::memory_order_acquire);
    if (static_cast<uint32_t>(word) != name_of(head_)) return false;
    uint8_t kind = static_cast<uint8_t>(word >> 32);
    uint32_t bytes = static_cast<uint32_t>(word >> 40);
    if (kind == pad_kind) [[unlikely]] {
      advance(cell, bytes);
      return read(take);
    }
    take(Arrival{kind, cell->envelope, cell->data, bytes});
    advance(cell, cells_for(bytes));
    return true;
  }

 private:
  uint64_t size() const { return mask_ + 1; }
  Cell<Atomic>* at(uint64_t position) const { return cells_ + (position & mask_); }

  void advance(Cell<Atomic>* cell, uint32_t cells) {
    for (uint32_t i = 1; i < cells; ++i) cell[i].word.store(0, std::memory_order_relaxed);
    head_ += cells;
    if (head_ - given_back_ >= size() / 4) {
      control_->head.store(head_, std::memory_order_release);
      given_back_ = head_;
    }
  }

  RingControl<Atomic>* control_ = nullptr;
  Cell<Atomic>* cells_ = nullptr;
  uint64_t mask_ = 0;
  uint64_t head_ = 0;
  uint64_t given_back_ = 0;
};

}  // namespace weft::transport::shm
