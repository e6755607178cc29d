// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The messages of the last errors of this process, for MPI_Error_string: error codes are classes, which programs
// compare with ==, so that a code cannot tell which error it was. Usable without MPI_Init, from any thread; all of it
// is cold.

#include <string>

namespace weft::mpi {

// At least so many messages are kept, of all threads together.
constexpr int recent_errors = 64;

// Keeps the message of an error that the calling thread raises: "MPI_Send: <text><object>". Nothing is kept of a class
// that tells of other errors, of the codes of the tool interface and of programs, and of a text that is the class's.
void keep_message(int error, const char* function, const char* text, const std::string& object);

// The last message of this class that the calling thread kept, or else that any thread kept; empty: there is none.
[[nodiscard]] std::string recent_message(int error);

}  // namespace weft::mpi
