// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Error handlers are counted: handles the program holds, and objects that use them.

#include "mpi/object.hpp"

namespace weft::mpi {

// What fail() does with the finished text: lets the error handler of `comm` decide.
[[nodiscard]] int raise(const Comm* comm, const char* function, int error, const char* text);

// The same for sessions; `session` is nullptr while it is being made. The caller holds the handler.
[[nodiscard]] int raise(const Errhandler& handler, const Session* session, const char* function, int error,
                        const char* text);
[[nodiscard, gnu::cold, gnu::noinline, gnu::format(printf, 4, 5)]] int fail_on(const Session& session,
                                                                               const char* function, int error,
                                                                               const char* text, ...);

inline Errhandler* hold(Errhandler* handler) {
  if (!handler->predefined) ++handler->references;
  return handler;
}
void drop(Errhandler* handler);

// The handler that a communicator or session has now, with a reference: another thread may replace it at any time.
[[nodiscard]] Errhandler* held_handler(Errhandler* const& place);
// What errors raise that have no communicator and no MPI_COMM_SELF either: before MPI_Init, after MPI_Finalize, in
// sessions. MPI_COMM_WORLD and MPI_COMM_SELF begin with it. Chosen at start-up (MPI-5.0, 11.8.4).
[[nodiscard]] Errhandler* initial_handler();

// Makes `handler` the one of a communicator or session.
void replace_handler(Errhandler*& place, Errhandler* handler);

}  // namespace weft::mpi
