// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What completion asks of generalized requests (grequest.cpp), which are known by Request::flags.generalized. The
// functions that return an error return that of the program's functions.

#include "mpi/object/object.hpp"

namespace weft::mpi {

// Has the status told by the query function. The request is complete.
[[nodiscard]] int query_generalized(const Request& request, MPI_Status* status);

// The end of a complete one: its status is told, its state freed, the handle made null.
[[nodiscard]] int retire_generalized(MPI_Request* handle, Request& request, MPI_Status* status);

// MPI_Request_free and MPI_Cancel; they raise the error.
[[nodiscard]] int free_generalized(Request& request);
[[nodiscard]] int cancel_generalized(Request& request);

}  // namespace weft::mpi
