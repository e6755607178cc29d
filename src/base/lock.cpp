// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/lock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.hpp"

namespace weft::base {

void Lock::wait() {
  constexpr int spins = 100;
  for (int i = 0; i < spins; ++i) {
    cpu_relax();
    if (!is_taken() && try_lock()) return;
  }
  while (word_.exchange(wanted, std::memory_order_acquire) != free) {
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word_), FUTEX_WAIT_PRIVATE, wanted, nullptr, nullptr, 0);
  }
}

int Lock::wake() {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  return 0;
}

}  // namespace weft::base
