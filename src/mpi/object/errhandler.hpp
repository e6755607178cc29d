// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Error handlers are counted: handles the program holds, and objects that use them.

#include "mpi/object/error.hpp"

namespace weft::mpi {

// Ends fail() with the finished text: the error handler decides.
[[nodiscard]] int raise(ErrorsOn on, const char* function, int error, const char* text);
// Raises the error with this handler, which the caller holds: the handler of an object that is being made.
[[nodiscard]] int raise(const Errhandler& handler, ErrorsOn on, const char* function, int error, const char* text);

inline Errhandler* hold(Errhandler* handler) {
  if (!handler->predefined) ++handler->references;
  return handler;
}
void drop(Errhandler* handler);

// The handler that an object has now, with a reference: another thread may replace it at any time.
[[nodiscard]] Errhandler* held_handler(Errhandler* const& place);
// The handler of errors that have no communicator and no MPI_COMM_SELF either: before MPI_Init, after MPI_Finalize, in
// sessions. MPI_COMM_WORLD and MPI_COMM_SELF begin with it. Chosen at start-up (MPI-5.0, 11.8.4).
[[nodiscard]] Errhandler* initial_handler();

// The communicator whose handler gets errors of calls that have none: MPI_COMM_SELF (MPI-5.0, 9.3), or MPI_COMM_WORLD
// where the program has set that one's handler alone and WEFT_ERRORS_OF_WORLD allows it; nullptr: there is neither now.
[[nodiscard]] Comm* comm_for_errors_of_none();
// Decides as if the setting were given, where it is not: for programs of an ABI whose libraries do it so (src/foreign).
void prefer_world_for_errors();
// Whether that setting decides.
[[nodiscard]] bool world_takes_errors_of_none();

// The handler of communicators and windows on which, or on whose parents, the program has set none: acts and is seen
// as the predefined one. Known by itself, as it may defer to MPI_COMM_WORLD's.
[[nodiscard]] Errhandler* unset_handler(const Errhandler& predefined);
// The handler that decides instead of this one, which it may be itself; with `details` locked. Where the setting above
// allows it and the program has set MPI_COMM_WORLD's handler, that one decides for all objects that have none set.
[[nodiscard]] Errhandler* deciding_handler(Errhandler* handler);

// Makes `handler` the one of an object.
void replace_handler(Errhandler*& place, Errhandler* handler);

}  // namespace weft::mpi
