// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/context.hpp"

#include <mutex>
#include <utility>

namespace weft::mpi {

uint32_t ContextNumbers::offer(int32_t members) {
  std::lock_guard lock(lock_);
  std::vector<uint32_t>& returned = members == 1 ? returned_alone_ : returned_;
  if (!returned.empty()) {
    const uint32_t number = returned.back();
    returned.pop_back();
    return number;
  }
  if (members == 1) return alone_ < end ? alone_++ : none;
  return fresh_ < first_alone ? std::exchange(fresh_, fresh_ + step_) : none;
}

void ContextNumbers::settle(uint32_t offered, uint32_t agreed) {
  if (offered == agreed || offered == none) return;
  std::lock_guard lock(lock_);
  returned_.push_back(offered);
}

void ContextNumbers::hold(uint32_t number, int32_t up, int32_t below) {
  std::lock_guard lock(lock_);
  Use& use = uses_[number];
  use.up = up;
  use.open += below + 1;
}

int32_t ContextNumbers::release(uint32_t number) {
  std::lock_guard lock(lock_);
  const auto place = uses_.try_emplace(number).first;  // a member below may be faster than we are
  if (--place->second.open != 0) return nobody;
  const int32_t up = place->second.up;
  uses_.erase(place);
  if (up == nobody) (number < first_alone ? returned_ : returned_alone_).push_back(number);
  return up;
}

}  // namespace weft::mpi
