// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/wait.hpp"

#include <sched.h>

#include "core/progress/waiting.hpp"
#include "shmem/error.hpp"

namespace weft::shmem {

void check_comparison(const char* function, int cmp) {
  if (state.pes == 0) [[unlikely]]
    need_start(function);
  if (static_cast<unsigned>(cmp) <= SHMEM_CMP_GE) [[likely]]
    return;
  fail(function, "the comparison is " + std::to_string(cmp), "give SHMEM_CMP_EQ, NE, GT, GE, LT or LE");
}

void wait_for(bool (*ready)(void* what), void* what) {
  core::wait_for_any_memory([=] { return ready(what); });
}

// Where PEs share processors, one that only tests would keep the others from what it tests for.
void failed_test() {
  core::progress_at_times();
  if (core::Backoff::spins()) return;
  constexpr uint32_t patience = 64;
  static thread_local uint32_t failed = 0;
  if (++failed % patience == 0) sched_yield();
}

size_t& last_found() {
  static thread_local size_t last = SIZE_MAX - 1;
  return last;
}

void serve_afar() {
  core::progress_at_times();
}

void wake(const Near& near) {
  near.endpoint->rouse();
}

uint64_t signal_fetch(const char* function, const uint64_t* address) {
  if (state.pes == 0) [[unlikely]]
    need_start(function);
  core::progress_at_times();
  return std::atomic_ref<uint64_t>(*const_cast<uint64_t*>(address)).load(std::memory_order_acquire);
}

// The value that ended the wait, read once.
uint64_t signal_wait_until(const char* function, uint64_t* address, int cmp, uint64_t value) {
  check_comparison(function, cmp);
  uint64_t seen = 0;
  const auto ready = [&] {
    seen = std::atomic_ref<uint64_t>(*address).load(std::memory_order_acquire);
    return compares(&seen, cmp, value);
  };
  if (!ready()) wait_for(ready);
  return seen;
}

}  // namespace weft::shmem
