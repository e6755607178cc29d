// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The symmetric heap (OpenSHMEM 1.6, 9.3). All PEs allocate the same sizes in the same order, so the same decisions
// give the same offsets everywhere: nothing is agreed on but that all are there. Book is kept in private memory, which
// puts that go astray do not reach.

#include <cstddef>
#include <cstdint>
#include <map>

namespace weft::shmem {

// Pieces of a range of `bytes`, by their offset.
class HeapPieces {
 public:
  static constexpr size_t none = SIZE_MAX;
  static constexpr size_t grain = 64;  // pieces begin and end at multiples: no cache line has two

  explicit HeapPieces(size_t bytes) : bytes_(bytes) {}

  // Takes the lowest free place, at a multiple of `alignment`, a power of two. Returns `none` if there is no such
  // place.
  [[nodiscard]] size_t take(size_t bytes, size_t alignment);
  [[nodiscard]] bool give_back(size_t offset);
  // The bytes of the piece that begins at `offset`; `none` if no piece does.
  [[nodiscard]] size_t size_of(size_t offset) const;
  [[nodiscard]] size_t total() const { return bytes_; }
  [[nodiscard]] size_t taken() const;  // the bytes that are in pieces
  // Changes the size of a piece in place, if the memory behind it is free.
  [[nodiscard]] bool resize(size_t offset, size_t bytes);

 private:
  struct HeapPiece {
    size_t bytes;  // as asked for
    size_t end;    // offset behind it
  };
  size_t bytes_;
  std::map<size_t, HeapPiece> taken_;
};

// The largest alignment in a heap of so many bytes: all PEs' heaps begin at a multiple of it.
[[nodiscard]] size_t alignment_of_heap(size_t bytes);

// The heap's own memory, with `slack` bytes behind it: the one place that says where it comes from. Ends the job with a
// message when there is none.
[[nodiscard]] char* obtain_heap(size_t bytes, size_t slack);
void return_heap(char* heap);

void open_heap(size_t bytes);
void close_heap();

void* allocate(const char* function, size_t size);
void* allocate_for(const char* function, size_t size, long hints);
void* allocate_zeroed(const char* function, size_t count, size_t size);
void* allocate_aligned(const char* function, size_t alignment, size_t size);
void* reallocate(const char* function, void* memory, size_t size);
void release(const char* function, void* memory);

}  // namespace weft::shmem
