// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/context.hpp"

#include <mutex>
#include <utility>

namespace weft::mpi {

uint32_t ContextNumbers::offer(int32_t members) {
  std::lock_guard lock(lock_);
  if (members == 1) return alone_ < end ? alone_++ : none;
  if (!returned_.empty()) {
    const uint32_t number = returned_.back();
    returned_.pop_back();
    return number;
  }
  return fresh_ < first_alone ? std::exchange(fresh_, fresh_ + step_) : none;
}

void ContextNumbers::settle(uint32_t offered, uint32_t agreed) {
  if (offered == agreed || offered == none) return;
  std::lock_guard lock(lock_);
  returned_.push_back(offered);
}

}  // namespace weft::mpi
