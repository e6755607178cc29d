// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A program of sessions alone leaves the job at its exit; a child of fork() that exits is not the rank, and does not.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "expect.hpp"

namespace {

// The phase of rank 0, in the first line of the job's segment.
uint32_t phase() {
  const char* segment = getenv("WEFT_SEGMENT_FD");
  uint32_t phase = 99;
  if (segment == nullptr || pread(atoi(segment), &phase, sizeof phase, 0) != sizeof phase) return 99;
  return phase;
}

}  // namespace

int main() {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_finalize(&session);
  const uint32_t before = phase();
  EXPECT(before != 99, "there is no segment");
  const pid_t child = fork();
  if (child == 0) exit(0);
  waitpid(child, nullptr, 0);
  EXPECT(phase() == before, "phase %u after the child's exit, %u before", phase(), before);
  EXPECT(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS, "no session after it");
  MPI_Session_finalize(&session);
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
