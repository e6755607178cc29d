// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <vector>

namespace weft::mpiexec {

// All children of this process, as the system sees them: for a subreaper also those that its descendants left behind.
std::vector<pid_t> own_children();
// The children that the first thread of a process has started; of a kernel without that list all children.
std::vector<pid_t> children_of(pid_t process);

}  // namespace weft::mpiexec
