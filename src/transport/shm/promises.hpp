// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory that the ranks of a host have given to their programs without touching it is a promise: it is taken when the
// program touches it, and lack of it is then a signal. So all ranks count their promises in one word of the segment,
// and a new one is made only when the system has memory for those that are not yet redeemed.
//
// Touched pages of promises are not told apart from other touched pages of the segment, rings and staging buffers of
// some MiB a rank: so much more may be promised. Programs outside of the job may take the memory first.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/descriptor.hpp"
#include "pages/available.hpp"

namespace weft::transport::shm {

class Promises {
 public:
  // `promised`: bytes, of all ranks, in the segment behind `segment`.
  void open(const base::Descriptor& segment, std::atomic<uint64_t>* promised) {
    segment_ = segment;
    promised_ = promised;
  }

  // Promises so many bytes more, or says why not. Thread-safe.
  [[nodiscard]] bool make(size_t bytes, std::string& problem);
  // They are touched no more. Thread-safe.
  void end(size_t bytes) { promised_->fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  base::Descriptor segment_;
  std::atomic<uint64_t>* promised_ = nullptr;
  std::mutex mutex_;     // of the next
  uint64_t credit_ = 0;  // of the last look at the system: bytes for small promises, which need no look of their own
};

}  // namespace weft::transport::shm
