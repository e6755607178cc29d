// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Where communicators are made that have no parent: from groups, whose members meet at a string
// (core::meeting_point()).

#include "mpi/comm/agree.hpp"

namespace weft::mpi {

// All ranks of the job, before there is any communicator: messages about new ones go here.
[[nodiscard]] Comm& nursery();

// Checks the string and the error handler of a function that makes communicators from groups; raises their errors.
[[nodiscard]] int check_naming(const char* function, const char* stringtag, MPI_Errhandler errhandler);

}  // namespace weft::mpi
