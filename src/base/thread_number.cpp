// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/thread_number.hpp"

#include <bit>
#include <mutex>

#include "base/lock.hpp"

namespace weft::base {
namespace {

// The numbers in use, a bit each.
class ThreadNumbers {
 public:
  uint32_t take() {
    const std::lock_guard guard(lock_);
    const auto number = static_cast<uint32_t>(std::countr_one(used_));
    if (number >= most) return most + beyond_++;
    used_ |= uint64_t{1} << number;
    return number;
  }
  void give(uint32_t number) {
    const std::lock_guard guard(lock_);
    if (number < most) used_ &= ~(uint64_t{1} << number);
  }

 private:
  static constexpr uint32_t most = 64;

  Lock lock_;
  uint64_t used_ = 0;
  uint32_t beyond_ = 0;
};

constinit ThreadNumbers numbers;

struct OwnNumber {
  const uint32_t number = numbers.take();
  OwnNumber() = default;
  ~OwnNumber() { numbers.give(number); }
  OwnNumber(const OwnNumber&) = delete;
  OwnNumber& operator=(const OwnNumber&) = delete;
};

}  // namespace

uint32_t thread_number() {
  thread_local const OwnNumber own;
  return own.number;
}

}  // namespace weft::base
