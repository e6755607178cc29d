// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/init_refcount.hpp"

#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "base/lock.hpp"
#include "core/dynamic/context.hpp"
#include "core/runtime/world.hpp"

namespace weft::core {
namespace {

constinit base::Lock guard;
int interfaces = 0;
bool left = false;
pid_t process = 0;  // that has joined

// A child of fork() is no rank, and leaves nothing.
void leave_at_exit() {
  if (getpid() != process) return;
  std::lock_guard lock(guard);
  if (interfaces != 0) return;  // an interface was not ended
  stop();
  left = true;
}

}  // namespace

bool join(bool multiple, uint64_t (*alike)()) {
  std::lock_guard lock(guard);
  if (left) return false;
  if (interfaces++ == 0) {
    if (process == 0) {
      start(multiple, alike);
      process = getpid();
      (void)atexit(leave_at_exit);
    } else {
      resume_releases();
      resume();
    }
  }
  return true;
}

void leave() {
  std::lock_guard lock(guard);
  if (--interfaces != 0) return;
  end_releases();
  rest();
}

bool has_left() {
  std::lock_guard lock(guard);
  return left;
}

}  // namespace weft::core
