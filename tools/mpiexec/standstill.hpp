// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A job that has been quiet for a while may stand still: then mpiexec looks at what its ranks wait for, once says why
// if they can never go on, and ends nothing. docs/guide/why.md.

#include <cstdint>
#include <string>

namespace weft::mpiexec {

inline constexpr const char* hang_sentence = "no rank has written anything for a while, and the job stands still";

class Standstill {
 public:
  void begin(uint64_t now_ns);
  // A rank has written something.
  void heard(uint64_t now_ns) { heard_ns_ = now_ns; }
  // The job was stopped, or goes on; it stands still for that while.
  void stopped(bool is_stopped, uint64_t now_ns) {
    stopped_ = is_stopped;
    heard_ns_ = now_ns;
  }
  // When to look next; UINT64_MAX: never.
  [[nodiscard]] uint64_t due() const;
  // Looks if it has been quiet long enough. Lines that say why the job stands still; empty: it does not for certain.
  [[nodiscard]] std::string look_after_delay(uint64_t now_ns);
  // The waits of the ranks of this mpiexec, as text; empty: nothing can be read.
  [[nodiscard]] static std::string look();

 private:
  uint64_t after_ns_ = 0;  // 0 means that it does not look
  uint64_t heard_ns_ = 0;
  uint64_t looked_ns_ = 0;
  bool stopped_ = false;
};

}  // namespace weft::mpiexec
