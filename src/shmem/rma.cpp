// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/rma.hpp"

#include "base/copy.hpp"
#include "shmem/atomic.hpp"
#include "shmem/error.hpp"

namespace weft::shmem {

[[gnu::noinline]] void put_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                                   int pe, Until until) {
  if (bytes == 0) return;
  put(function, ctx, find(function, ctx, dest, bytes, pe), source, bytes, until);
}

[[gnu::noinline]] void get_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                                   int pe, Until until) {
  if (bytes == 0) return;
  get(function, ctx, find(function, ctx, source, bytes, pe), dest, bytes, until);
}

namespace {

// The bytes from the first element to behind the last one of strided data; SIZE_MAX: no memory has so many.
size_t span_of(const char* function, ptrdiff_t distance, const Stride& stride) {
  if (distance < 0 || (stride.blocks > 1 && distance == 0)) {
    fail(function, "a distance between blocks is " + std::to_string(distance), "give one of at least 1 element");
  }
  size_t elements = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(distance), stride.blocks - 1, &elements) ||
      __builtin_add_overflow(elements, stride.block, &elements)) {
    return SIZE_MAX;
  }
  return bytes_of(elements, stride.element);
}

template <size_t element>
void copy_elements(char* to, ptrdiff_t to_step, const char* from, ptrdiff_t from_step, size_t count) {
  for (size_t i = 0; i < count; ++i, to += to_step, from += from_step) std::memcpy(to, from, element);
}

// Steps in bytes.
void copy_blocks(char* to, ptrdiff_t to_step, const char* from, ptrdiff_t from_step, size_t block, size_t count) {
  switch (block) {
    case 4:
      return copy_elements<4>(to, to_step, from, from_step, count);
    case 8:
      return copy_elements<8>(to, to_step, from, from_step, count);
    default:
      for (size_t i = 0; i < count; ++i, to += to_step, from += from_step) base::copy(to, from, block);
  }
}

}  // namespace

void put_strided_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, const Stride& stride,
                         int pe) {
  if (stride.block == 0 || stride.blocks == 0) return;
  const size_t span = span_of(function, stride.dst, stride);
  const auto to_step = stride.dst * static_cast<ptrdiff_t>(stride.element);
  const auto from_step = stride.sst * static_cast<ptrdiff_t>(stride.element);
  const size_t block = bytes_of(stride.block, stride.element);
  const Near* near = nullptr;
  char* there = device::owns(source) ? nullptr : in_heap(On{function, ctx}, dest, span, pe, near);
  if (there != nullptr) {
    copy_blocks(there, to_step, static_cast<const char*>(source), from_step, block, stride.blocks);
    return tell(*near);
  }
  SymmetricData to = find(function, ctx, dest, span, pe);
  const auto* from = static_cast<const char*>(source);
  for (size_t i = 0; i < stride.blocks; ++i, to.offset += to_step, from += from_step) {
    put(function, ctx, to, from, block, Until::begun);
  }
  if (by_messages(to)) finish(function, to);
}

void get_strided_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, const Stride& stride,
                         int pe) {
  if (stride.block == 0 || stride.blocks == 0) return;
  const size_t span = span_of(function, stride.sst, stride);
  const auto to_step = stride.dst * static_cast<ptrdiff_t>(stride.element);
  const auto from_step = stride.sst * static_cast<ptrdiff_t>(stride.element);
  const size_t block = bytes_of(stride.block, stride.element);
  const Near* near = nullptr;
  const char* there = device::owns(dest) ? nullptr : in_heap(On{function, ctx}, source, span, pe, near);
  if (there != nullptr) {
    return copy_blocks(static_cast<char*>(dest), to_step, there, from_step, block, stride.blocks);
  }
  SymmetricData from = find(function, ctx, source, span, pe);
  auto* to = static_cast<char*>(dest);
  for (size_t i = 0; i < stride.blocks; ++i, from.offset += from_step, to += to_step) {
    get(function, ctx, from, to, block, Until::begun);
  }
  if (by_messages(from)) finish(function, from);
}

// The signal follows the data: by stores in order, or by the order of a context's messages.
void put_signal_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                        const Signal& signal, int pe) {
  if (signal.operation != SHMEM_SIGNAL_SET && signal.operation != SHMEM_SIGNAL_ADD) {
    fail(function, "sig_op is " + std::to_string(signal.operation), "give SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD");
  }
  const On at{function, ctx};
  const Near* near = nullptr;
  char* there = bytes == 0 || device::owns(source) ? nullptr : in_heap(at, dest, bytes, pe, near);
  if (there != nullptr) {
    base::copy(there, source, bytes);
    std::atomic_thread_fence(std::memory_order_release);
  } else if (bytes != 0) {
    const SymmetricData to = find(function, ctx, dest, bytes, pe);
    put(function, ctx, to, source, bytes, Until::begun);
    if (by_messages(to)) order(function, to);
  }
  if (signal.operation == SHMEM_SIGNAL_SET) {
    atomic_set(at, signal.address, signal.value, pe);
  } else {
    add(at, signal.address, signal.value, pe);
  }
}

}  // namespace weft::shmem
