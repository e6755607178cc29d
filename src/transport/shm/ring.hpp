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
//
// Garbage: a writer that fills cells with anything makes the reader deliver anything, of at most `garbage_bytes` behind
// the ring's end, which must be readable. The reader writes nothing outside the ring.
// `Atomic` is a parameter so that tests run the ring under a scheduler that permutes interleavings.

#include <atomic>
#include <cstring>

#include "base/copy.hpp"
#include "base/tsan.hpp"
#include "transport/api/transport.hpp"

namespace weft::transport::shm {

inline constexpr uint32_t cell_bytes = 32;
inline constexpr uint32_t inline_bytes = 8;  // data in a message's first cell
inline constexpr uint8_t pad_kind = 0x1f;
static_assert(pad_kind >= kind_limit);

// Cells that a message with `bytes` of data takes.
constexpr uint32_t cells_for(uint32_t bytes) {
  return (bytes + (cell_bytes - inline_bytes) + cell_bytes - 1) / cell_bytes;
}
static_assert(cells_for(0) == 1 && cells_for(8) == 1 && cells_for(9) == 2 && cells_for(40) == 2 && cells_for(41) == 3);

template <template <class> class Atomic = std::atomic>
struct Cell {
  Atomic<uint64_t> word;  // from the low end: position (23 bits), 1, kind (5), bytes of data (14; of a pad: cells),
                          // upper bits of the stamp (21)
  uint32_t context;
  int32_t source;
  int32_t tag;
  uint32_t stamp;                    // its lower bits
  unsigned char data[inline_bytes];  // goes on in the following cells
};
static_assert(sizeof(Cell<>) == cell_bytes);
inline constexpr size_t data_offset = cell_bytes - inline_bytes;
static_assert(offsetof(Cell<>, data) == data_offset);

// The ring's shared words, each on lines of its own: writers contend for `tail`, the reader alone stores `head`.
template <template <class> class Atomic = std::atomic>
struct RingControl {
  alignas(128) Atomic<uint64_t> tail;  // next cell to reserve, counted since the start
  alignas(128) Atomic<uint64_t> head;  // cells before this one are free again
};
static_assert(sizeof(RingControl<>) == 256);

// The lower bits of a position, and one that an empty cell has not. They tell a lap from the one before.
constexpr uint32_t name_of(uint64_t position) {
  return (static_cast<uint32_t>(position) & 0x7fffff) | 0x800000;
}
inline constexpr uint32_t most_cells_log2 = 22;

constexpr uint64_t word_of(uint64_t position, uint8_t kind, uint32_t bytes, uint64_t stamp = 0) {
  return name_of(position) | (uint64_t{kind} << 24) | (uint64_t{bytes} << 29) | (stamp >> 32 << 43);
}
constexpr bool is_named(uint64_t word, uint64_t position) {
  return (static_cast<uint32_t>(word) & 0xffffff) == name_of(position);
}
constexpr uint8_t kind_of(uint64_t word) {
  return (word >> 24) & 0x1f;
}
constexpr uint32_t bytes_of(uint64_t word) {
  return (word >> 29) & 0x3fff;
}
inline constexpr size_t garbage_bytes = 0x3fff + 1 - inline_bytes;
static_assert(stamp_bits == 32 + 21 && mailbox_limit(1) + 64 < 0x3fff);

// Copies 0 to 8 bytes without a call.
inline void copy_small(unsigned char* to, const void* from, uint32_t n) {
  const auto* source = static_cast<const unsigned char*>(from);
  if (n >= 4) {  // two moves that may overlap
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
  RingWriter(RingControl<Atomic>* control, Cell<Atomic>* cells, uint32_t cells_log2) {
    open(control, cells, cells_log2);
  }
  void open(RingControl<Atomic>* control, Cell<Atomic>* cells, uint32_t cells_log2) {
    control_ = control;
    cells_ = cells;
    mask_ = (uint64_t{1} << cells_log2) - 1;
    limit_.store(mask_ + 1, std::memory_order_relaxed);
  }

  // These are one attempt to write a message of one cell, in two steps, small enough to be inlined where it is worth
  // it. The first reserves the cell, unless another writer was faster or the ring may be full (then write() decides).
  // The second must fill it at once.
  [[gnu::always_inline]] bool try_reserve(Cell<Atomic>** cell, uint64_t* position) {
    Atomic<uint64_t>& tail = control_->tail;
    *position = tail.load(std::memory_order_relaxed);
    if (*position < limit_.load(std::memory_order_acquire) &&
        tail.compare_exchange_strong(*position, *position + 1, std::memory_order_acq_rel, std::memory_order_relaxed))
        [[likely]] {
      *cell = at(*position);
      return true;
    }
    return false;
  }
  [[gnu::always_inline]] static void fill(Cell<Atomic>* cell, uint64_t position, uint8_t kind, const Envelope& envelope,
                                          const void* data, uint32_t bytes) {
    prefetch_for_write(cell + prefetch_cells);
    base::take_from_process(cell);
    write_envelope(*cell, envelope);
    uint64_t word;
    if (bytes == 8) [[likely]] {
      __builtin_memcpy(cell->data, data, 8);
      word = word_of(position, kind, 8, envelope.stamp);
    } else {
      copy_small(cell->data, data, bytes);
      word = word_of(position, kind, bytes, envelope.stamp);
    }
    base::give_to_process(cell);
    cell->word.store(word, std::memory_order_release);
  }

  Post write(uint8_t kind, const Envelope& envelope, const void* data, uint32_t bytes) {
    if (bytes > inline_bytes) return write_long(kind, envelope, data, bytes);
    uint64_t position = control_->tail.load(std::memory_order_relaxed);
    do {
      if (position >= limit_.load(std::memory_order_acquire) && !room(position, 1)) return Post::retry;
    } while (!control_->tail.compare_exchange_weak(position, position + 1, std::memory_order_acq_rel,
                                                   std::memory_order_relaxed));
    fill(at(position), position, kind, envelope, data, bytes);
    return Post::done;
  }

 private:
  static constexpr uint64_t prefetch_cells = 16;

  uint64_t size() const { return mask_ + 1; }
  Cell<Atomic>* at(uint64_t position) const { return cells_ + (position & mask_); }

  static void write_envelope(Cell<Atomic>& cell, const Envelope& envelope) {
    cell.context = envelope.context;
    cell.source = envelope.source;
    cell.tag = envelope.tag;
    cell.stamp = static_cast<uint32_t>(envelope.stamp);
  }

  // Whether `cells` from `position` are free, after a fresh look at the reader's head.
  [[gnu::noinline]] bool room(uint64_t position, uint64_t cells) {
    uint64_t head = control_->head.load(std::memory_order_acquire);
    limit_.store(head + size(), std::memory_order_release);  // pairs with the acquire loads: threads may share this
    return position + cells <= head + size();
  }

  [[gnu::noinline]] Post write_long(uint8_t kind, const Envelope& envelope, const void* data, uint32_t bytes) {
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
    } while (!control_->tail.compare_exchange_weak(position, position + pad + cells, std::memory_order_acq_rel,
                                                   std::memory_order_relaxed));
    if (pad != 0) {
      base::take_from_process(at(position));
      base::give_to_process(at(position));
      at(position)->word.store(word_of(position, pad_kind, static_cast<uint32_t>(pad)), std::memory_order_release);
      position += pad;
    }
    Cell<Atomic>* cell = at(position);
    for (uint64_t i = 0; i < cells; ++i) base::take_from_process(cell + i);
    write_envelope(*cell, envelope);
    unsigned char* room_for_data = reinterpret_cast<unsigned char*>(cell) + data_offset;
    base::copy(room_for_data, data, bytes);
    for (uint64_t i = 0; i < cells; ++i) base::give_to_process(cell + i);
    cell->word.store(word_of(position, kind, bytes, envelope.stamp), std::memory_order_release);
    return Post::done;
  }

  RingControl<Atomic>* control_ = nullptr;
  Cell<Atomic>* cells_ = nullptr;
  uint64_t mask_ = 0;          // cells - 1; their number is a power of two
  Atomic<uint64_t> limit_{0};  // positions before it are free: the reader's head when last looked at, plus size
};

// The owner's side. One thread at a time may read; empty() is for any.
template <template <class> class Atomic = std::atomic>
class RingReader {
 public:
  RingReader() = default;
  RingReader(RingControl<Atomic>* control, Cell<Atomic>* cells, uint32_t cells_log2, uint32_t lane = 0) {
    open(control, cells, cells_log2, lane);
  }
  void open(RingControl<Atomic>* control, Cell<Atomic>* cells, uint32_t cells_log2, uint32_t lane) {
    control_ = control;
    cells_ = cells;
    mask_ = (uint64_t{1} << cells_log2) - 1;
    lane_ = lane;
  }

  bool empty() const {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    return !is_named(at(head)->word.load(std::memory_order_relaxed), head);
  }

  // Up to where cells are reserved, and up to where they were read.
  uint64_t tail() const { return control_->tail.load(std::memory_order_acquire); }
  uint64_t head() const { return head_.load(std::memory_order_relaxed); }

  // Hands the next message to `take`, if there is one. `take` may send, but not read this ring.
  template <class Take>
  bool read(Take&& take) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    Cell<Atomic>* cell = at(head);
    uint64_t word = cell->word.load(std::memory_order_acquire);
    if (!is_named(word, head)) return false;
    const uint8_t kind = kind_of(word);
    const uint32_t bytes = bytes_of(word);
    if (kind == pad_kind) [[unlikely]] {  // up to the end, whatever it says of its size
      advance(head, static_cast<uint32_t>(size() - (head & mask_)));
      return read(take);
    }
    take(Arrival{
        kind, {cell->context, cell->source, cell->tag, lane_, (word >> 43 << 32) | cell->stamp}, cell->data, bytes});
    advance(head, cells_for(bytes));
    return true;
  }

 private:
  uint64_t size() const { return mask_ + 1; }
  Cell<Atomic>* at(uint64_t position) const { return cells_ + (position & mask_); }

  // Stays in the ring: a message that claims to go beyond its end is of a writer that writes garbage.
  void advance(uint64_t head, uint32_t cells) {
    for (uint32_t i = 1; i < cells; ++i) at(head + i)->word.store(0, std::memory_order_relaxed);
    head += cells;
    head_.store(head, std::memory_order_relaxed);
    if (head - given_back_ >= size() / 4) {
      control_->head.store(head, std::memory_order_release);
      given_back_ = head;
    }
  }

  RingControl<Atomic>* control_ = nullptr;
  Cell<Atomic>* cells_ = nullptr;
  uint64_t mask_ = 0;
  Atomic<uint64_t> head_{0};  // stored by the reader; others look at it in empty()
  uint64_t given_back_ = 0;
  uint32_t lane_ = 0;
};

}  // namespace weft::transport::shm
