// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/lock.hpp"

#include "shmem/atomic.hpp"
#include "shmem/error.hpp"
#include "shmem/order.hpp"
#include "shmem/wait.hpp"

namespace weft::shmem {
namespace {

// The halves of the `long`, which is 0 at first: the end of the queue, which counts at the lock's home, and the place
// of each PE in the queue. PEs are numbered from 1 on in both; 0 is nobody.
struct Halves {
  uint32_t last;
  uint32_t next;  // the PE behind this one; `waiting` until the lock is handed to it
};
static_assert(sizeof(Halves) == sizeof(long));
constexpr uint32_t waiting = 1U << 31;

Halves& halves(long* lock) {
  return *reinterpret_cast<Halves*>(lock);
}

// Locks are spread over the PEs by their addresses' offsets.
int home_of(const char* function, const long* lock) {
  const SymmetricData place = find(function, SHMEM_CTX_DEFAULT, lock, sizeof *lock, state.pe);
  return static_cast<int>(static_cast<uint64_t>(place.offset) / sizeof *lock % state.pes);
}

uint32_t own_number() {
  return static_cast<uint32_t>(state.pe) + 1;
}

}  // namespace

void set_lock(const char* function, long* lock) {
  const Default at{function};
  const int home = home_of(function, lock);
  Halves& ours = halves(lock);
  atomic_set(at, &ours.next, waiting, state.pe);
  const uint32_t before = fetch_replace(at, &ours.last, own_number(), home);
  if (before == 0) return bit_and(at, &ours.next, ~waiting, state.pe);  // the next PE may be in it already
  bit_or(at, &ours.next, own_number(), static_cast<int>(before) - 1);
  wait_for([&] { return (std::atomic_ref(ours.next).load(std::memory_order_acquire) & waiting) == 0; });
}

void clear_lock(const char* function, long* lock) {
  const Default at{function};
  quiet(function);
  const int home = home_of(function, lock);
  Halves& ours = halves(lock);
  const auto next = [&] { return std::atomic_ref(ours.next).load(std::memory_order_acquire); };
  if (next() == 0) {
    if (compare_swap(at, &ours.last, own_number(), 0U, home) == own_number()) return;
    wait_for([&] { return next() != 0; });  // somebody has come, and is about to say who
  }
  bit_and(at, &ours.next, ~waiting, static_cast<int>(next()) - 1);
}

int test_lock(const char* function, long* lock) {
  const Default at{function};
  const int home = home_of(function, lock);
  Halves& ours = halves(lock);
  atomic_set(at, &ours.next, 0U, state.pe);
  if (compare_swap(at, &ours.last, 0U, own_number(), home) == 0) return 0;
  failed_test();
  return 1;
}

}  // namespace weft::shmem
