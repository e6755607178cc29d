// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The launcher of a process that was started without one, or of a job that another launcher has started: a rank of it
// has started this mpiexec (boot/connect/own_launcher.hpp). The ranks that are there are those of a job whose spare
// places we serve. They are no children of ours, so we wait for them by descriptors.

#include <sys/types.h>

#include <string>
#include <vector>

namespace weft::mpiexec {

struct Attached {
  pid_t pid = -1;    // of the rank that has started us
  int process = -1;  // a descriptor of it, readable when it has ended
  int segment = -1;
  int line = -1;  // over which it says that it leaves the job
  int places = 0;
  int started = 0;  // ranks that the job began with; both of this host
  bool several_hosts = false;
  std::string id;  // names the job
};

// `words` begin with boot::attach_option. The result is mpiexec's exit status.
int serve_attached(const std::vector<std::string>& words);

}  // namespace weft::mpiexec
