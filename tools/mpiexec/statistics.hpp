// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ranks' counters of calls (WEFT_STATS), which mpiexec keeps beyond them: it writes the report of a job that has
// not come to write its own, and that of call sites (WEFT_STATS=full) in any case.

#include <string>

#include "mpiexec/command.hpp"

namespace weft::mpiexec {

class Statistics {
 public:
  explicit Statistics(const Command& command) : command_(command) {}
  // Makes the file where WEFT_STATS is given to any rank. Without one the ranks make their own.
  void prepare();
  // Its descriptor, which ranks inherit; -1: none.
  [[nodiscard]] int descriptor() const { return fd_; }
  // When all ranks have ended. Returns what went wrong, or an empty text.
  [[nodiscard]] std::string report(int status) const;

 private:
  [[nodiscard]] std::string named(std::string text) const;

  const Command& command_;
  int fd_ = -1;
};

}  // namespace weft::mpiexec
