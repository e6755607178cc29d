// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Errors of MPI calls: the message is written once, where the wrong argument is found; the error handler decides what
// happens. All of these are cold.

#include <cstddef>

#include "mpi/object/object.hpp"

namespace weft::mpi {

// Whose error handler an error is for: a communicator's, a window's, a session's. nullptr: MPI_COMM_SELF's, as the
// standard asks for calls that name no valid object (before MPI_Init: fatal). What goes wrong on a window's own
// communicator is the window's.
struct ErrorsOn {
  ErrorsOn(std::nullptr_t) {}
  ErrorsOn(const Comm* given) {
    if (given != nullptr && given->window != nullptr) {
      win = given->window;
    } else {
      comm = given;
    }
  }
  ErrorsOn(const Win* given) : win(given) {}
  ErrorsOn(const Session* given) : session(given) {}

  // One of them, or none.
  const Comm* comm = nullptr;
  const Win* win = nullptr;
  const Session* session = nullptr;
};

// Raises an error of class `error`: MPI_ERRORS_ARE_FATAL and MPI_ERRORS_ABORT print "MPI_Send: <text>" and end the job
// (exit status = the class), MPI_ERRORS_RETURN gives the code back, a user's handler is called. Returns what the MPI
// call must return.
[[nodiscard, gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] int fail(ErrorsOn on, const char* function,
                                                                            int error, const char* text, ...);

// The error of a call that names an invalid communicator: says whether MPI is not started, or what is wrong.
[[nodiscard, gnu::cold, gnu::noinline]] int bad_comm(const char* function, MPI_Comm handle);
// The same for a datatype: null, freed, not committed (checked by the caller), or garbage.
[[nodiscard, gnu::cold, gnu::noinline]] int bad_type(ErrorsOn on, const char* function, MPI_Datatype handle);

// Text of an error class or code, as MPI_Error_string gives it.
const char* error_text(int error);

// Whether MPI_Init has run and MPI_Finalize has not.
bool is_running();

}  // namespace weft::mpi
