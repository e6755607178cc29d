// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/promises.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/bytes.hpp"

namespace weft::transport::shm {

bool Promises::make(size_t bytes, std::string& problem) {
  constexpr size_t small = size_t{1} << 20;
  constexpr uint64_t most_credit = uint64_t{64} << 20;
  std::lock_guard guard(mutex_);
  const uint64_t promised = promised_->fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (bytes <= small && bytes <= credit_) {
    credit_ -= bytes;
    return true;
  }
  struct stat segment = {};
  const uint64_t touched = fstat(fd_, &segment) == 0 ? static_cast<uint64_t>(segment.st_blocks) * 512 : 0;
  const uint64_t open = std::max<uint64_t>(promised > touched ? promised - touched : 0, bytes);
  const pages::Available there = pages::available();
  if (open <= there.bytes) {
    credit_ = std::min((there.bytes - open) / 16, most_credit);
    return true;
  }
  promised_->fetch_sub(bytes, std::memory_order_relaxed);
  problem = there.bound + " leaves " + base::shown_bytes(there.bytes);
  if (open > bytes) {
    problem +=
        ", and ranks of this host have got " + base::shown_bytes(open - bytes) + " that they have not touched yet";
  }
  problem += ": " + there.remedy;
  return false;
}

}  // namespace weft::transport::shm
