// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Processes of a rank that have started another MPI library: each of them is then a job of one rank, and nothing else
// says so. A library that is merely loaded is no mistake, so the library's own data tell: MPI_Init writes far more of
// them than loading does.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::mpiexec {

struct OtherMpi {
  pid_t pid = 0;         // of a process that has started the library; 0: none has
  std::string process;   // its name, such as "python3"
  std::string file;      // the library's file; empty: no process has another MPI library
  std::string standard;  // the ABI that its name stands for, such as "MPICH's ABI"
};

// Looks at a process and at its descendants, those of Weft left out.
[[nodiscard]] OtherMpi find_other_mpi(pid_t process);

// When mpiexec looks at ranks that have not joined the job: often at first, since short programs end soon, and so that
// looking takes little of its time.
class LookTimes {
 public:
  void begin(uint64_t now_ns) { began_ns_ = now_ns, due_ns_ = now_ns + shortest_ns; }
  uint64_t due() const { return due_ns_; }
  void end() { due_ns_ = UINT64_MAX; }
  // A look lasted from `from_ns` to `to_ns`.
  void looked(uint64_t from_ns, uint64_t to_ns);

 private:
  static constexpr uint64_t shortest_ns = 10'000'000;
  uint64_t began_ns_ = 0;
  uint64_t due_ns_ = UINT64_MAX;
};

}  // namespace weft::mpiexec
