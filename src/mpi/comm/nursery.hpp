// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Where communicators are made that have no parent: from groups, which tell their messages apart by a string.

#include "mpi/comm/agree.hpp"

namespace weft::mpi {

// All ranks of the job, before there is any communicator: messages about new ones go here.
[[nodiscard]] Comm& nursery();

// Where messages about what is made by this string go: 59 bits of its hash, so that two strings do not meet.
struct Meeting {
  uint32_t context;
  int32_t tag;
};
[[nodiscard]] Meeting meeting_of(const char* stringtag);

// Checks the string and the error handler of a function that makes communicators from groups; raises their errors.
[[nodiscard]] int check_naming(const char* function, const char* stringtag, MPI_Errhandler errhandler);

}  // namespace weft::mpi
