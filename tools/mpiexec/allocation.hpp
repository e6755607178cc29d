// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The hosts and the number of ranks that a batch system has given to the job in which mpiexec runs: Slurm, PBS and
// Torque, LSF, Grid Engine. They say so in variables of the environment, and in files that these name.

#include <string>
#include <vector>

#include "mpiexec/command.hpp"
#include "mpiexec/hosts.hpp"

namespace weft::mpiexec {

struct Allocation {
  std::string system;       // "Slurm"; empty: there is no batch system
  std::string source;       // the variables that were read, for messages
  std::vector<Host> hosts;  // each with its number of ranks; empty: the system names none
  int ranks = 0;
};

// Reads the variables of the batch system. An empty result means taken, or that there is none; otherwise it says what
// is wrong.
[[nodiscard]] std::string read_allocation(Allocation& allocation);

// Gives a command that names no hosts those of the allocation, as many as its ranks need, and one program without -n
// the allocation's number of ranks; tells of the latter on standard error. A command that a rank of a job of ours has
// started stays as it is. An empty result means done, otherwise what is wrong.
[[nodiscard]] std::string take_allocation(Command& command, const std::string& own_host);

// After take_allocation(): without -n a program with -N gets so many ranks for each host, and no host gets more. An
// empty result means done, otherwise what is wrong.
[[nodiscard]] std::string count_per_host(Command& command);

}  // namespace weft::mpiexec
