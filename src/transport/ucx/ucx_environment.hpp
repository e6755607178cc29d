// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// While it is loaded, UCX sets handlers for SIGSEGV and others and patches mmap and munmap, to know when memory that it
// has registered goes; later it writes what it has to say on standard output. None of this is ours to do to a program,
// and we lend UCX buffers that stay. Only variables of the environment act so early. They are in an array of our own
// that takes the place of the program's for the moment: a reader of the environment meanwhile finds a whole one.
// Variables that are set already stay.

namespace weft::transport::ucx {

// For the time in which UCX, or a library that loads it, is loaded and reads the environment. One at a time.
class UcxEnvironment {
 public:
  UcxEnvironment();
  ~UcxEnvironment();
  UcxEnvironment(const UcxEnvironment&) = delete;
  UcxEnvironment& operator=(const UcxEnvironment&) = delete;

 private:
  char** of_program_;
};

}  // namespace weft::transport::ucx
