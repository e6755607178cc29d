// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The result of an operation on a file: an error class and what a person needs to know of the failure. It has no
// pointers, so that ranks tell it to each other.

#include <cstdint>
#include <string>

namespace weft::io {

// The standard's error classes that this layer finds; src/mpi asserts that the values are the standard's.
enum FileError : int32_t {
  no_error = 0,
  wrong_argument = 13,
  other_error = 16,
  internal_error = 17,
  no_access = 20,
  wrong_mode = 21,
  bad_file = 23,
  no_conversion = 25,
  file_exists = 28,
  file_in_use = 29,
  io_error = 35,
  no_memory = 39,
  not_same = 40,
  no_space = 41,
  no_such_file = 42,
  quota_exceeded = 44,
  read_only = 45,
  unsupported_operation = 55,
};

// The action that failed.
enum class Act : int32_t {
  none,
  open,
  close,
  remove,
  read,
  write,
  lock,
  sync,
  stat,
  resize,
  reserve,
  buffer,
  exchange,
  mode,
  arguments,
  convert,
  thread,
  copy,
  atomic,
};

struct Result {
  int32_t error = no_error;  // an error class
  int32_t system = 0;        // errno, 0 when there is none
  Act act = Act::none;
  int32_t rank = -1;   // the rank in the file's communicator that found it; -1: the calling one
  int64_t offset = 0;  // in the file, where it matters
  int64_t bytes = 0;

  [[nodiscard]] bool failed() const { return error != no_error; }
};
static_assert(sizeof(Result) == 32);

// The class of an errno that a file operation gave.
[[nodiscard]] int32_t class_of_errno(int32_t system);

[[nodiscard]] inline Result system_failure(Act act, int32_t system, int64_t offset = 0, int64_t bytes = 0) {
  return {.error = class_of_errno(system), .system = system, .act = act, .offset = offset, .bytes = bytes};
}
[[nodiscard]] inline Result failure(int32_t error, Act act) {
  return {.error = error, .act = act};
}

// "rank 2 cannot write 4096 bytes at byte 512 of "x": No space left on device (errno 28). Remedy: ..."
[[nodiscard]] std::string describe(const Result& result, const std::string& path);

}  // namespace weft::io
