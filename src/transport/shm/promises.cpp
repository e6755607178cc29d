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
  if (bytes <= small && bytes <= credit_) {
    credit_ -= bytes;
    promised_->fetch_add(bytes, std::memory_order_relaxed);
    return true;
  }
  struct stat file = {};
  const uint64_t touched = fstat(segment_.number(), &file) == 0 ? static_cast<uint64_t>(file.st_blocks) * 512 : 0;
  const pages::Available there = pages::available();
  // Counted only once it is granted: other ranks must not be refused for the sake of what this one does not get.
  uint64_t promised = promised_->load(std::memory_order_relaxed);
  const auto open = [&] {
    return std::max<uint64_t>(promised + bytes > touched ? promised + bytes - touched : 0, bytes);
  };
  while (bytes <= there.bytes && open() <= there.bytes) {
    if (!promised_->compare_exchange_weak(promised, promised + bytes, std::memory_order_relaxed)) continue;
    credit_ = std::min((there.bytes - open()) / 16, most_credit);
    return true;
  }
  problem = there.bound + " leaves " + base::shown_bytes(there.bytes);
  if (bytes <= there.bytes && open() > bytes) {
    problem +=
        ", and ranks of this host have got " + base::shown_bytes(open() - bytes) + " that they have not touched yet";
  }
  problem += ": " + there.remedy;
  return false;
}

}  // namespace weft::transport::shm
