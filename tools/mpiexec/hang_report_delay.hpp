// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::mpiexec {

// When to look at a job on several hosts that may stand still: once nothing has been written for a while, and as long
// as the job goes on in silence, each time after twice as long, since to ask all hosts is not free. It is told how many
// bytes were written so far, four times in that while.
class HangReportDelay {
 public:
  HangReportDelay(uint64_t after_ns, uint64_t now_ns) : after_ns_(after_ns), since_ns_(now_ns), seen_ns_(now_ns) {}

  // When to tell it next; UINT64_MAX: never.
  [[nodiscard]] uint64_t due() const {
    return after_ns_ == 0 ? UINT64_MAX : std::min(since_ns_ + after_ns_, seen_ns_ + after_ns_ / 4);
  }

  // True: it is time to look.
  [[nodiscard]] bool is_over(uint64_t written, uint64_t now_ns) {
    if (written != written_) since_ns_ = now_ns;
    written_ = written;
    seen_ns_ = now_ns;
    if (after_ns_ == 0 || now_ns < since_ns_ + after_ns_) return false;
    since_ns_ = now_ns;
    after_ns_ *= 2;
    return true;
  }

  void end() { after_ns_ = 0; }

 private:
  uint64_t after_ns_;  // 0 ends all looks
  uint64_t since_ns_;
  uint64_t seen_ns_;
  uint64_t written_ = 0;
};

}  // namespace weft::mpiexec
