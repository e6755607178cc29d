// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The launcher of a process that was started without one, which has started this mpiexec (boot/own_launcher.hpp). The
// process is rank 0 of a job whose spare places we serve. It is no child of ours, so we wait for it by a descriptor.

#include <sys/types.h>

#include <string>
#include <vector>

namespace weft::mpiexec {

struct Attached {
  pid_t pid = -1;
  int process = -1;  // a descriptor of it, readable when it has ended
  int segment = -1;
  int line = -1;  // over which it says that it leaves the job
  int places = 0;
  std::string name;  // of its program
};

// `words` begin with boot::attach_option. The result is mpiexec's exit status.
int serve_attached(const std::vector<std::string>& words);

}  // namespace weft::mpiexec
