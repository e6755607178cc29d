// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/life.hpp"

#include <mutex>

#include "base/lock.hpp"
#include "core/context.hpp"
#include "core/world.hpp"

namespace weft::core {
namespace {

constinit base::Lock guard;
int interfaces = 0;
int joined = 0;
bool left = false;

}  // namespace

bool join(bool multiple, uint64_t (*alike)()) {
  std::lock_guard lock(guard);
  if (left) return false;
  if (interfaces++ == 0) start(multiple, alike);
  ++joined;
  return true;
}

int joins() {
  std::lock_guard lock(guard);
  return joined;
}

void leave() {
  std::lock_guard lock(guard);
  if (--interfaces != 0) return;
  end_releases();
  stop();
  left = true;
}

}  // namespace weft::core
