// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Point-to-point synchronisation (OpenSHMEM 1.6, 9.10): waits for, and tests of, our own symmetric memory. A wait is
// one of core: it makes progress, for MPI too, and sleeps. Puts and atomics of Weft wake it; stores through a pointer
// of shmem_ptr do not, so that it looks again every millisecond.

#include "shmem/state.hpp"

namespace weft::shmem {

// The elements a call looks at: those whose status is 0.
template <class T>
struct Set {
  const T* ivars;
  size_t count;
  const int* status;

  bool has(size_t i) const { return status == nullptr || status[i] == 0; }
};
template <class T>
Set(T*, size_t, const int*) -> Set<T>;

// The values that they are compared with.
template <class T>
struct Same {
  T value;
  T operator[](size_t) const { return value; }
};
template <class T>
Same(T) -> Same<T>;
template <class T>
struct Each {
  const T* values;
  T operator[](size_t i) const { return values[i]; }
};
template <class T>
Each(const T*) -> Each<T>;

// Ends the job where the call or the comparison is none.
void check_comparison(const char* function, int cmp);

// Waits until `ready` holds.
void wait_for(bool (*ready)(void* what), void* what);
template <class Ready>
void wait_for(Ready ready) {
  wait_for([](void* what) { return (*static_cast<Ready*>(what))(); }, &ready);
}

// The end of a test that failed: other PEs, and what has come for this process, get a chance.
void failed_test();

template <class T>
inline bool compares(const T* ivar, int cmp, T value) {
  // The acquire pairs with the release of the PE that wrote it, if that orders its writes (fence, signal, atomic).
  const T is = std::atomic_ref<T>(*const_cast<T*>(ivar)).load(std::memory_order_acquire);
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return is == value;
    case SHMEM_CMP_NE:
      return is != value;
    case SHMEM_CMP_GT:
      return is > value;
    case SHMEM_CMP_LE:
      return is <= value;
    case SHMEM_CMP_LT:
      return is < value;
    default:
      return is >= value;
  }
}

inline int tested(bool holds) {
  if (!holds) failed_test();
  return holds ? 1 : 0;
}

template <class T>
void wait_until(const char* function, T* ivar, int cmp, T value) {
  check_comparison(function, cmp);
  if (!compares(ivar, cmp, value)) wait_for([=] { return compares(ivar, cmp, value); });
}

template <class T>
int test(const char* function, T* ivar, int cmp, T value) {
  check_comparison(function, cmp);
  return tested(compares(ivar, cmp, value));
}

// ---- Sets

template <class T, class Values>
bool all_hold(const Set<T>& set, int cmp, const Values& values) {
  for (size_t i = 0; i < set.count; ++i) {
    if (set.has(i) && !compares(set.ivars + i, cmp, values[i])) return false;
  }
  return true;
}

// Where the last search for one element ended: the next begins behind it, so that each gets its turn.
size_t& last_found();

// SIZE_MAX: none.
template <class T, class Values>
size_t find_one(const Set<T>& set, int cmp, const Values& values) {
  size_t i = last_found();
  for (size_t looked = 0; looked < set.count; ++looked) {
    i = i + 1 < set.count ? i + 1 : 0;
    if (set.has(i) && compares(set.ivars + i, cmp, values[i])) return last_found() = i;
  }
  return SIZE_MAX;
}

template <class T, class Values>
size_t find_some(const Set<T>& set, size_t* indices, int cmp, const Values& values) {
  size_t found = 0;
  for (size_t i = 0; i < set.count; ++i) {
    if (set.has(i) && compares(set.ivars + i, cmp, values[i])) indices[found++] = i;
  }
  return found;
}

template <class T>
bool is_empty(const Set<T>& set) {
  for (size_t i = 0; i < set.count; ++i) {
    if (set.has(i)) return false;
  }
  return true;
}

template <class T, class Values>
void wait_until_all(const char* function, Set<T> set, int cmp, Values values) {
  check_comparison(function, cmp);
  if (!all_hold(set, cmp, values)) wait_for([&] { return all_hold(set, cmp, values); });
}

template <class T, class Values>
size_t wait_until_any(const char* function, Set<T> set, int cmp, Values values) {
  check_comparison(function, cmp);
  size_t found = find_one(set, cmp, values);
  if (found == SIZE_MAX && !is_empty(set)) {
    wait_for([&] { return found != SIZE_MAX || (found = find_one(set, cmp, values)) != SIZE_MAX; });
  }
  return found;
}

template <class T, class Values>
size_t wait_until_some(const char* function, Set<T> set, size_t* indices, int cmp, Values values) {
  check_comparison(function, cmp);
  size_t found = find_some(set, indices, cmp, values);
  if (found == 0 && !is_empty(set)) {
    wait_for([&] { return found != 0 || (found = find_some(set, indices, cmp, values)) != 0; });
  }
  return found;
}

template <class T, class Values>
int test_all(const char* function, Set<T> set, int cmp, Values values) {
  check_comparison(function, cmp);
  return tested(all_hold(set, cmp, values));
}

template <class T, class Values>
size_t test_any(const char* function, Set<T> set, int cmp, Values values) {
  check_comparison(function, cmp);
  const size_t found = find_one(set, cmp, values);
  (void)tested(found != SIZE_MAX);
  return found;
}

template <class T, class Values>
size_t test_some(const char* function, Set<T> set, size_t* indices, int cmp, Values values) {
  check_comparison(function, cmp);
  const size_t found = find_some(set, indices, cmp, values);
  (void)tested(found != 0);
  return found;
}

// ---- Signals

uint64_t signal_fetch(const char* function, const uint64_t* address);
uint64_t signal_wait_until(const char* function, uint64_t* address, int cmp, uint64_t value);

}  // namespace weft::shmem
