// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Starting one rank.

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "abi/program.hpp"
#include "base/cpus.hpp"
#include "mpiexec/command.hpp"

namespace weft::mpiexec {

using abi::find_program;

// A rank of a job on one host, in its own MPI_COMM_WORLD.
struct RankFacts {
  int rank = 0;
  int size = 1;
  int universe = 1;  // MPI_UNIVERSE_SIZE
};

// Our environment without what another launcher told us.
class Environment {
 public:
  Environment();
  void set(const std::string& name, const std::string& value);
  // Sets the variables by which other launchers tell a program its rank, such as OMPI_COMM_WORLD_RANK.
  void set_known(const RankFacts& facts);
  std::vector<std::string> all_names() const;
  std::vector<char*> pointers();  // for execve; valid until the next set()

 private:
  std::vector<std::string> entries_;
};

struct Start {
  int rank = 0;
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;     // a null pointer keeps ours
  base::CpuSet processors;          // an empty set binds nothing
  int in = -1, out = -1, err = -1;  // become 0, 1, 2
  int failure_fd = -1;              // where a StartFailure goes when the program cannot be started; closed by exec
  sigset_t signals;                 // the mask ranks start with
  rlimit files;                     // the limit of open files ranks start with
};

struct StartFailure {
  enum Step : int { folder, bind, exec };
  int rank;
  int step;
  int error;
};

// Forks and executes. The child leads a process group of its own and is killed when we die. -1 and errno when there can
// be no process.
[[nodiscard]] pid_t start_rank(const Start& start);

}  // namespace weft::mpiexec
