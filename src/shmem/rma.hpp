// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Put and get (OpenSHMEM 1.6, 9.5): the fast path is inline, and the general path is behind it. `At` is the context of
// the call.

#include <cstring>

#include "base/copy.hpp"
#include "device/api/device.hpp"
#include "shmem/remote.hpp"
#include "shmem/state.hpp"

namespace weft::shmem {

// ---- The general path
void put_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe,
                 Until until);
void get_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe,
                 Until until);

// Blocks of elements at distances that are given in elements.
struct Stride {
  ptrdiff_t dst;
  ptrdiff_t sst;
  size_t block;  // elements of a block
  size_t blocks;
  size_t element;  // bytes
};
void put_strided_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, const Stride& stride,
                         int pe);
void get_strided_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, const Stride& stride,
                         int pe);

struct Signal {
  uint64_t* address;
  uint64_t value;
  int operation;
};
void put_signal_general(const char* function, shmem_ctx_t ctx, void* dest, const void* source, size_t bytes,
                        const Signal& signal, int pe);

// ---- The fast path

// A word goes by one store, so that a PE that waits for it sees all of it or nothing.
inline void copy(void* to, const void* from, size_t bytes) {
  if (bytes == sizeof(uint64_t)) {
    std::memcpy(to, from, sizeof(uint64_t));
  } else {
    base::copy(to, from, bytes);
  }
}

// A block that is no word, or any while buffers may lie on a device.
template <class At>
[[gnu::noinline]] void put_block(At at, void* dest, const void* source, size_t bytes, int pe, Until until) {
  const Near* near = nullptr;
  char* there = in_heap(at, dest, bytes, pe, near);
  if (there == nullptr || device::owns(source)) {
    return put_general(at.function, at.ctx(), dest, source, bytes, pe, until);
  }
  copy(there, source, bytes);
  tell(*near);
}
template <class At>
[[gnu::noinline]] void get_block(At at, void* dest, const void* source, size_t bytes, int pe, Until until) {
  const Near* near = nullptr;
  const char* there = in_heap(at, source, bytes, pe, near);
  if (there == nullptr || device::owns(dest)) {
    return get_general(at.function, at.ctx(), dest, source, bytes, pe, until);
  }
  copy(dest, there, bytes);
  serve();
}

template <class At>
[[gnu::always_inline]] inline void put_until(At at, void* dest, const void* source, size_t bytes, int pe, Until until) {
  if (bytes != state.word) [[unlikely]]
    return put_block(at, dest, source, bytes, pe, until);
  const Near* near = nullptr;
  uint64_t* there = in_heap(at, static_cast<uint64_t*>(dest), pe, near);
  if (there == nullptr) [[unlikely]]
    return put_general(at.function, at.ctx(), dest, source, bytes, pe, until);
  std::memcpy(there, source, sizeof(uint64_t));
  tell(*near);
}
template <class At>
[[gnu::always_inline]] inline void get_until(At at, void* dest, const void* source, size_t bytes, int pe, Until until) {
  if (bytes != state.word) [[unlikely]]
    return get_block(at, dest, source, bytes, pe, until);
  const Near* near = nullptr;
  const uint64_t* there = in_heap(at, static_cast<const uint64_t*>(source), pe, near);
  if (there == nullptr) [[unlikely]]
    return get_general(at.function, at.ctx(), dest, source, bytes, pe, until);
  std::memcpy(dest, there, sizeof(uint64_t));
  serve();
}

template <class At>
[[gnu::always_inline]] inline void put(At at, void* dest, const void* source, size_t bytes, int pe) {
  put_until(at, dest, source, bytes, pe, Until::done);
}
template <class At>
[[gnu::always_inline]] inline void put_nbi(At at, void* dest, const void* source, size_t bytes, int pe) {
  put_until(at, dest, source, bytes, pe, Until::begun);
}
template <class At>
[[gnu::always_inline]] inline void get(At at, void* dest, const void* source, size_t bytes, int pe) {
  get_until(at, dest, source, bytes, pe, Until::done);
}
template <class At>
[[gnu::always_inline]] inline void get_nbi(At at, void* dest, const void* source, size_t bytes, int pe) {
  get_until(at, dest, source, bytes, pe, Until::begun);
}

// Values are passed on in registers, which keeps them off the stack of the fast path.
template <class At, class T>
[[gnu::noinline]] void store_general(At at, T* dest, T value, int pe) {
  put_general(at.function, at.ctx(), dest, &value, sizeof value, pe, Until::done);
}
template <class At, class T>
[[gnu::noinline]] T load_general(At at, const T* source, int pe) {
  T value;
  get_general(at.function, at.ctx(), &value, source, sizeof value, pe, Until::done);
  return value;
}

template <class At, class T>
[[gnu::always_inline]] inline void store(At at, T* dest, T value, int pe) {
  const Near* near = nullptr;
  T* there = in_heap(at, dest, pe, near);
  if (there == nullptr) [[unlikely]]
    return store_general(at, dest, value, pe);
  *static_cast<volatile T*>(there) = value;
  tell(*near);
}

template <class At, class T>
[[gnu::always_inline]] inline T load(At at, const T* source, int pe) {
  const Near* near = nullptr;
  const T* there = in_heap(at, source, pe, near);
  if (there == nullptr) [[unlikely]]
    return load_general(at, source, pe);
  const T value = *static_cast<const volatile T*>(there);
  serve();
  return value;
}

template <class At>
inline void put_strided(At at, void* dest, const void* source, const Stride& stride, int pe) {
  put_strided_general(at.function, at.ctx(), dest, source, stride, pe);
}

template <class At>
inline void get_strided(At at, void* dest, const void* source, const Stride& stride, int pe) {
  get_strided_general(at.function, at.ctx(), dest, source, stride, pe);
}

template <class At>
inline void put_signal(At at, void* dest, const void* source, size_t bytes, const Signal& signal, int pe) {
  put_signal_general(at.function, at.ctx(), dest, source, bytes, signal, pe);
}

}  // namespace weft::shmem
