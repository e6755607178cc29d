// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A collective operation in the form that a test is at: blocking, nonblocking, or persistent and started twice.

#include "expect.hpp"

namespace coll_call {

enum Form { blocking, nonblocking, persistent };
inline Form form;

template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
void call(const char* name, MPI_Comm comm, Blocking b, Nonblocking i, Persistent p, Arguments... arguments) {
  int error = MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == blocking) error = b(arguments..., comm);
  if (form == nonblocking) error = i(arguments..., comm, &request);
  if (form == persistent) {
    error = p(arguments..., comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Start(&request);
  }
  EXPECT(error == MPI_SUCCESS, "%s: error %d", name, error);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

}  // namespace coll_call
