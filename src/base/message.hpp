// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Messages a person reads: cause, object, errno, remedy.

#include <string>
#include <utility>

namespace weft::base {

struct Problem {
  std::string cause;        // the action that failed, and its object: "cannot map 64 MiB of shared memory"
  int error = 0;            // errno, 0 when there is none
  std::string remedy = {};  // what the reader can do about it
};

// False: `problem` says why, without an errno.
inline bool refuse(Problem& problem, std::string cause, std::string remedy) {
  problem = {.cause = std::move(cause), .remedy = std::move(remedy)};
  return false;
}

// "cannot map ...: Cannot allocate memory (errno 12). Remedy: ..."
std::string describe(const Problem& problem);

// The rank shown in front of every line: "weft: rank 3 (pid 1234): ". Set once the rank is known.
void set_message_rank(int rank);

void tell(const Problem& problem);
void warn(const Problem& problem);
void warn_once(const char* key, const Problem& problem);  // once per process and key

// Whether this process is the one of its job that tells what all of its ranks find alike: rank 0, by set_message_rank()
// or, until then, by what the launcher has put into the environment.
[[nodiscard]] bool speaks_for_job();
void warn_for_job(const char* key, const Problem& problem);  // the same as warn_once(), by that process alone

// Writes the message and ends the process with status 1 through the job's abort (see set_end_of_job).
[[noreturn]] void die(const Problem& problem);

// die() asks whether this process of the job writes, and ends the whole job. The boot layer sets both functions.
// Without them each process writes, and ends by _exit(status).
struct EndOfJob {
  bool (*tells)();
  void (*end)(int status);
};
void set_end_of_job(EndOfJob to);
[[noreturn]] void end_job(int status);

}  // namespace weft::base
