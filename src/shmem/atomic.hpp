// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Atomic memory operations (OpenSHMEM 1.6, 9.8). In a heap of this host the processor performs them; elsewhere core's
// updates do, which use the processor's operations for heaps, too, so that both may be applied to the same element.

#include <complex>
#include <type_traits>

#include "device/api/device.hpp"
#include "shmem/remote.hpp"
#include "shmem/state.hpp"

namespace weft::shmem {

// How core calls an arithmetic type of C.
template <class T>
constexpr Basic basic_of_type() {
  if constexpr (std::is_same_v<T, float>) {
    return Basic::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return Basic::float64;
  } else if constexpr (std::is_same_v<T, long double>) {
    return sizeof(long double) == 16 && __LDBL_MANT_DIG__ == 64 ? Basic::float80 : Basic::float128;
  } else if constexpr (std::is_same_v<T, SHMEM_COMPLEXF>) {
    return Basic::complex64;
  } else if constexpr (std::is_same_v<T, SHMEM_COMPLEXD>) {
    return Basic::complex128;
  } else {
    static_assert(std::is_integral_v<T>);
    constexpr Basic signed_ones[] = {Basic::int8, Basic::int16, Basic::int32, Basic::int64};
    constexpr Basic unsigned_ones[] = {Basic::uint8, Basic::uint16, Basic::uint32, Basic::uint64};
    constexpr int at = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? signed_ones[at] : unsigned_ones[at];
  }
}
template <class T>
inline constexpr Basic basic_of = basic_of_type<T>();

// ---- The general path
void update_general(const char* function, shmem_ctx_t ctx, const void* dest, size_t bytes, int pe, const void* value,
                    void* result, Reduction reduction, Basic basic, Until until);
void compare_swap_general(const char* function, shmem_ctx_t ctx, void* dest, size_t bytes, int pe, const void* value,
                          const void* cond, void* result, Basic basic, Until until);
void land_on_device(const char* function, void* fetch, const void* value, size_t bytes);

// Values are passed on in registers.
template <class At, class T>
[[gnu::noinline]] void changing(At at, const T* dest, T value, int pe, Reduction reduction) {
  update_general(at.function, at.ctx(), dest, sizeof(T), pe, &value, nullptr, reduction, basic_of<T>, Until::done);
}
template <class At, class T>
[[gnu::noinline]] T fetching(At at, const T* dest, T value, int pe, Reduction reduction) {
  T result;
  update_general(at.function, at.ctx(), dest, sizeof(T), pe, &value, &result, reduction, basic_of<T>, Until::done);
  return result;
}

template <class At, class T>
[[gnu::noinline]] T swapping(At at, T* dest, T cond, T value, int pe) {
  T result;
  compare_swap_general(at.function, at.ctx(), dest, sizeof(T), pe, &value, &cond, &result, basic_of<T>, Until::done);
  return result;
}

// ---- Without a result

// `act` takes the element, where it lies for us; otherwise the reduction says what to do.
template <class At, class T, class Act>
[[gnu::always_inline]] inline void change(At at, T* dest, T value, int pe, Reduction reduction, Act&& act) {
  const Near* near = nullptr;
  T* there = in_heap(at, dest, pe, near);
  if (there == nullptr) [[unlikely]]
    return changing(at, dest, value, pe, reduction);
  act(std::atomic_ref<T>(*there));
  tell(*near);
}

template <class At, class T>
[[gnu::always_inline]] inline void atomic_set(At at, T* dest, T value, int pe) {
  change(at, dest, value, pe, Reduction::replace, [=](auto word) { word.store(value, std::memory_order_release); });
}
template <class At, class T>
[[gnu::always_inline]] inline void add(At at, T* dest, T value, int pe) {
  change(at, dest, value, pe, Reduction::sum, [=](auto word) { word.fetch_add(value, std::memory_order_acq_rel); });
}
template <class At, class T>
[[gnu::always_inline]] inline void bit_and(At at, T* dest, T value, int pe) {
  change(at, dest, value, pe, Reduction::band, [=](auto word) { word.fetch_and(value, std::memory_order_acq_rel); });
}
template <class At, class T>
[[gnu::always_inline]] inline void bit_or(At at, T* dest, T value, int pe) {
  change(at, dest, value, pe, Reduction::bor, [=](auto word) { word.fetch_or(value, std::memory_order_acq_rel); });
}
template <class At, class T>
[[gnu::always_inline]] inline void bit_xor(At at, T* dest, T value, int pe) {
  change(at, dest, value, pe, Reduction::bxor, [=](auto word) { word.fetch_xor(value, std::memory_order_acq_rel); });
}

// ---- With one

template <class At, class T, class Act>
[[gnu::always_inline]] inline T exchange(At at, T* dest, T value, int pe, Reduction reduction, Act&& act) {
  const Near* near = nullptr;
  T* there = in_heap(at, dest, pe, near);
  if (there == nullptr) [[unlikely]]
    return fetching(at, dest, value, pe, reduction);
  const T old = act(std::atomic_ref<T>(*there));
  tell(*near);
  serve();
  return old;
}

template <class At, class T>
[[gnu::always_inline]] inline T atomic_fetch(At at, const T* source, int pe) {
  const Near* near = nullptr;
  const T* there = in_heap(at, source, pe, near);
  if (there == nullptr) [[unlikely]]
    return fetching(at, source, T{}, pe, Reduction::no_op);
  const T value = std::atomic_ref<T>(*const_cast<T*>(there)).load(std::memory_order_acquire);
  serve();
  return value;
}
template <class At, class T>
[[gnu::always_inline]] inline T fetch_replace(At at, T* dest, T value, int pe) {
  return exchange(at, dest, value, pe, Reduction::replace,
                  [=](auto word) { return word.exchange(value, std::memory_order_acq_rel); });
}
template <class At, class T>
[[gnu::always_inline]] inline T fetch_add(At at, T* dest, T value, int pe) {
  return exchange(at, dest, value, pe, Reduction::sum,
                  [=](auto word) { return word.fetch_add(value, std::memory_order_acq_rel); });
}
template <class At, class T>
[[gnu::always_inline]] inline T fetch_bit_and(At at, T* dest, T value, int pe) {
  return exchange(at, dest, value, pe, Reduction::band,
                  [=](auto word) { return word.fetch_and(value, std::memory_order_acq_rel); });
}
template <class At, class T>
[[gnu::always_inline]] inline T fetch_bit_or(At at, T* dest, T value, int pe) {
  return exchange(at, dest, value, pe, Reduction::bor,
                  [=](auto word) { return word.fetch_or(value, std::memory_order_acq_rel); });
}
template <class At, class T>
[[gnu::always_inline]] inline T fetch_bit_xor(At at, T* dest, T value, int pe) {
  return exchange(at, dest, value, pe, Reduction::bxor,
                  [=](auto word) { return word.fetch_xor(value, std::memory_order_acq_rel); });
}
template <class At, class T>
[[gnu::always_inline]] inline T compare_swap(At at, T* dest, T cond, T value, int pe) {
  const Near* near = nullptr;
  T* there = in_heap(at, dest, pe, near);
  if (there == nullptr) [[unlikely]]
    return swapping(at, dest, cond, value, pe);
  (void)std::atomic_ref<T>(*there).compare_exchange_strong(cond, value, std::memory_order_acq_rel,
                                                           std::memory_order_acquire);
  tell(*near);
  serve();
  return cond;
}

// ---- With a result that is there after the next quiet. A heap of this host gives it at once; every other one does
// where the result goes to memory of a device.

template <class At, class T>
inline bool at_once(At at, const T* fetch, const T* address, int pe) {
  const Near* near = nullptr;
  return in_heap(at, address, pe, near) != nullptr || device::owns(fetch);
}
template <class At, class T>
inline void land(At at, T* fetch, T value) {
  if (device::owns(fetch)) [[unlikely]]
    return land_on_device(at.function, fetch, &value, sizeof value);
  *fetch = value;
}
template <class At, class T>
inline void begin_fetch(At at, T* fetch, const T* dest, T value, int pe, Reduction reduction) {
  update_general(at.function, at.ctx(), dest, sizeof(T), pe, &value, fetch, reduction, basic_of<T>, Until::begun);
}

template <class At, class T>
inline void atomic_fetch_nbi(At at, T* fetch, const T* source, int pe) {
  if (at_once(at, fetch, source, pe)) {
    land(at, fetch, atomic_fetch(at, source, pe));
  } else {
    begin_fetch(at, fetch, source, T{}, pe, Reduction::no_op);
  }
}
template <class At, class T>
inline void fetch_replace_nbi(At at, T* fetch, T* dest, T value, int pe) {
  if (at_once(at, fetch, dest, pe)) {
    land(at, fetch, fetch_replace(at, dest, value, pe));
  } else {
    begin_fetch(at, fetch, dest, value, pe, Reduction::replace);
  }
}
template <class At, class T>
inline void fetch_add_nbi(At at, T* fetch, T* dest, T value, int pe) {
  if (at_once(at, fetch, dest, pe)) {
    land(at, fetch, fetch_add(at, dest, value, pe));
  } else {
    begin_fetch(at, fetch, dest, value, pe, Reduction::sum);
  }
}
template <class At, class T>
inline void fetch_bit_and_nbi(At at, T* fetch, T* dest, T value, int pe) {
  if (at_once(at, fetch, dest, pe)) {
    land(at, fetch, fetch_bit_and(at, dest, value, pe));
  } else {
    begin_fetch(at, fetch, dest, value, pe, Reduction::band);
  }
}
template <class At, class T>
inline void fetch_bit_or_nbi(At at, T* fetch, T* dest, T value, int pe) {
  if (at_once(at, fetch, dest, pe)) {
    land(at, fetch, fetch_bit_or(at, dest, value, pe));
  } else {
    begin_fetch(at, fetch, dest, value, pe, Reduction::bor);
  }
}
template <class At, class T>
inline void fetch_bit_xor_nbi(At at, T* fetch, T* dest, T value, int pe) {
  if (at_once(at, fetch, dest, pe)) {
    land(at, fetch, fetch_bit_xor(at, dest, value, pe));
  } else {
    begin_fetch(at, fetch, dest, value, pe, Reduction::bxor);
  }
}
template <class At, class T>
inline void compare_swap_nbi(At at, T* fetch, T* dest, T cond, T value, int pe) {
  if (at_once(at, fetch, dest, pe)) {
    land(at, fetch, compare_swap(at, dest, cond, value, pe));
  } else {
    compare_swap_general(at.function, at.ctx(), dest, sizeof(T), pe, &value, &cond, fetch, basic_of<T>, Until::begun);
  }
}

}  // namespace weft::shmem
