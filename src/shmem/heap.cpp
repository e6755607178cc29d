// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/heap.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "base/copy.hpp"
#include "base/lock.hpp"
#include "base/message.hpp"
#include "core/memory/shared.hpp"
#include "pages/wish.hpp"
#include "shmem/error.hpp"
#include "shmem/order.hpp"

namespace weft::shmem {

size_t HeapPieces::take(size_t bytes, size_t alignment) {
  alignment = std::max(alignment, grain);
  if (bytes > bytes_ || alignment > bytes_) return none;
  const auto aligned = [=](size_t at) { return (at + alignment - 1) & ~(alignment - 1); };
  size_t at = 0;
  for (const auto& [offset, piece] : taken_) {
    if (at <= offset && offset - at >= bytes) break;
    at = std::max(at, aligned(piece.end));
  }
  if (at > bytes_ || bytes_ - at < bytes) return none;
  taken_.emplace(at, HeapPiece{bytes, (at + bytes + grain - 1) & ~(grain - 1)});
  return at;
}

bool HeapPieces::give_back(size_t offset) {
  return taken_.erase(offset) == 1;
}

size_t HeapPieces::size_of(size_t offset) const {
  const auto found = taken_.find(offset);
  return found == taken_.end() ? none : found->second.bytes;
}

size_t HeapPieces::taken() const {
  return std::accumulate(taken_.begin(), taken_.end(), size_t{0},
                         [](size_t sum, const auto& piece) { return sum + piece.second.bytes; });
}

bool HeapPieces::resize(size_t offset, size_t bytes) {
  const auto found = taken_.find(offset);
  const auto next = std::next(found);
  const size_t end = next == taken_.end() ? bytes_ : next->first;
  if (end - offset < bytes) return false;
  found->second = {bytes, (offset + bytes + grain - 1) & ~(grain - 1)};
  return true;
}

namespace {

std::optional<HeapPieces> pieces;
constinit base::Lock heap_guard;

char* heap_base() {
  return reinterpret_cast<char*>(state.heap);
}

// The call returns a null pointer, on all PEs, which many programs do not look at: one of them says it, once.
void tell_no_room(const char* function, size_t size, size_t alignment) {
  static bool told = false;
  if (state.pe != 0 || std::exchange(told, true)) return;
  std::string piece = std::to_string(size) + " bytes";
  if (alignment > HeapPieces::grain) piece.append(" at a multiple of ").append(std::to_string(alignment));
  base::warn({.cause = std::string(function) + ": no space for " + piece + " in the symmetric heap of " +
                       std::to_string(pieces->total()) + " bytes per PE, of which " + std::to_string(pieces->taken()) +
                       " are taken; the call returns NULL, as later ones will without this message",
              .remedy = "set SHMEM_SYMMETRIC_SIZE higher, or free memory; alignments are at most " +
                        std::to_string(alignment_of_heap(pieces->total()))});
}

void* take(const char* function, size_t size, size_t alignment) {
  std::lock_guard lock(heap_guard);
  const bool possible = alignment <= alignment_of_heap(pieces->total());
  const size_t at = possible ? pieces->take(size, alignment) : HeapPieces::none;
  if (at != HeapPieces::none) return heap_base() + at;
  tell_no_room(function, size, alignment);
  return nullptr;
}

// The offset and the size of a piece that a call names.
struct FoundPiece {
  size_t offset;
  size_t bytes;
};
FoundPiece find_piece(const char* function, const void* memory) {
  std::lock_guard lock(heap_guard);
  const auto offset = static_cast<size_t>(reinterpret_cast<uintptr_t>(memory) - state.heap);
  const size_t bytes = pieces->size_of(offset);
  if (bytes == HeapPieces::none) {
    fail(function, "no memory of the symmetric heap begins at " + address_text(memory),
         "give what shmem_malloc, shmem_calloc, shmem_align or shmem_realloc returned, once");
  }
  return {offset, bytes};
}

void drop(size_t offset) {
  std::lock_guard lock(heap_guard);
  (void)pieces->give_back(offset);
}

}  // namespace

size_t alignment_of_heap(size_t bytes) {
  constexpr size_t least = 2 << 20;
  constexpr size_t most = 1 << 30;
  return std::clamp(std::bit_ceil(std::min(bytes, most)), least, most);
}

char* obtain_heap(size_t bytes, size_t slack) {
  std::string problem;
  pages::Wish wish = pages::wish_of_settings(problem);
  pages::Grant grant;
  if (problem.empty()) {
    wish.alignment = alignment_of_heap(bytes);
    grant = core::grant_shared(bytes + slack, wish);
    problem = grant.problem;
  }
  if (grant.memory == nullptr) {
    base::die({.cause = "shmem_init: no memory for a symmetric heap of " + std::to_string(bytes) +
                        " bytes per PE: " + problem,
               .remedy = "set SHMEM_SYMMETRIC_SIZE lower, or WEFT_HEAP_BYTES, the address space for it, higher"});
  }
  return static_cast<char*>(grant.memory);
}

void return_heap(char* heap) {
  (void)core::release_shared(heap);
}

void open_heap(size_t bytes) {
  pieces.emplace(bytes);
}

void close_heap() {
  pieces.reset();
}

void* allocate(const char* function, size_t size) {
  return allocate_aligned(function, HeapPieces::grain, size);
}

// Atomics and signals are as fast anywhere in the heap.
void* allocate_for(const char* function, size_t size, long /*hints*/) {
  return allocate_aligned(function, HeapPieces::grain, size);
}

void* allocate_zeroed(const char* function, size_t count, size_t size) {
  need_start(function);
  if (count == 0 || size == 0) return nullptr;
  void* memory = take(function, bytes_of(count, size), HeapPieces::grain);
  if (memory != nullptr) std::memset(memory, 0, count * size);
  barrier_all(function);
  return memory;
}

void* allocate_aligned(const char* function, size_t alignment, size_t size) {
  need_start(function);
  if (size == 0) return nullptr;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    fail(function, "the alignment is " + std::to_string(alignment), "give a power of two");
  }
  void* memory = take(function, size, alignment);
  barrier_all(function);
  return memory;
}

void* reallocate(const char* function, void* memory, size_t size) {
  need_start(function);
  if (memory == nullptr) return allocate(function, size);
  if (size == 0) {
    release(function, memory);
    return nullptr;
  }
  const FoundPiece old = find_piece(function, memory);
  barrier_all(function);  // nobody puts into it any more
  {
    std::lock_guard lock(heap_guard);
    if (pieces->resize(old.offset, size)) size = 0;
  }
  if (size != 0) {
    void* moved = take(function, size, HeapPieces::grain);
    if (moved == nullptr) return nullptr;  // on all PEs
    base::copy(moved, memory, std::min(size, old.bytes));
    drop(old.offset);
    memory = moved;
  }
  barrier_all(function);
  return memory;
}

void release(const char* function, void* memory) {
  need_start(function);
  if (memory == nullptr) return;
  const FoundPiece found = find_piece(function, memory);
  barrier_all(function);
  drop(found.offset);
}

}  // namespace weft::shmem
