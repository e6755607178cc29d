// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// That nothing outlives the job. Two cases: processes that ranks started and left behind become our children (we are
// their subreaper) and are found here; and should we ourselves be killed, a keeper kills what the ranks started.

#include <sys/types.h>

#include <atomic>
#include <vector>

namespace weft::mpiexec {

// All children of this process, as the system sees them.
std::vector<pid_t> own_children();

// A small process in a session of its own that waits for us to be gone, however that comes about, and then kills the
// process groups noted here. (A rank itself dies with us by PR_SET_PDEATHSIG; its children do not.)
class Keeper {
 public:
  bool start(int groups);
  void note(int slot, pid_t group) {  // 0: that group is gone
    if (groups_) groups_[slot].store(group, std::memory_order_release);
  }
  pid_t pid() const { return pid_; }
  void dismiss();

 private:
  std::atomic<pid_t>* groups_ = nullptr;  // shared with the keeper
  int count_ = 0;
  pid_t pid_ = -1;
  int pipe_ = -1;  // its end of life is ours
};

}  // namespace weft::mpiexec
