// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Errors of MPI calls: the message is written once, where the wrong argument is found; the error handler decides what
// happens. All of these are cold.

#include "mpi/object.hpp"

namespace weft::mpi {

// Raises an error of class `error` on the communicator's error handler: MPI_ERRORS_ARE_FATAL and MPI_ERRORS_ABORT print
// "MPI_Send: <text>" and end the job (exit status = the class), MPI_ERRORS_RETURN gives the code back, a user's handler
// is called. `comm` nullptr: the handler of MPI_COMM_SELF, as the standard asks for calls that name no valid
// communicator (before MPI_Init: fatal). Returns what the MPI call must return.
[[nodiscard, gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] int fail(const Comm* comm, const char* function,
                                                                            int error, const char* text, ...);

// The error of a call that names an invalid communicator: says whether MPI is not started, or what is wrong.
[[nodiscard, gnu::cold, gnu::noinline]] int bad_comm(const char* function, MPI_Comm handle);
// The same for a datatype: null, freed, not committed (checked by the caller), or garbage.
[[nodiscard, gnu::cold, gnu::noinline]] int bad_type(const Comm* comm, const char* function, MPI_Datatype handle);

// Text of an error class or code, as MPI_Error_string gives it.
const char* error_text(int error);

// Whether MPI_Init has run and MPI_Finalize has not.
bool is_running();

}  // namespace weft::mpi
