// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The data access calls (MPI-5.0, 14.4): each describes itself, and one function for each form runs it.

#include "mpi/file/file.hpp"

namespace weft::mpi {

// The pointer whose position a call accesses.
enum class Pointer : uint8_t { none, individual, shared };  // none: the call gives the offset

struct DataCall {
  const char* function;
  MPI_File fh;
  bool writes;
  Pointer pointer;
  MPI_Offset offset;  // in etypes, with Pointer::none
  void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
};

// Independent access, and its nonblocking form.
[[nodiscard]] int run(const DataCall& call, MPI_Status* status);
[[nodiscard]] int start(const DataCall& call, MPI_Request* request);

// Collective access; with the shared pointer in the order of ranks.
[[nodiscard]] int run_all(const DataCall& call, MPI_Status* status);
[[nodiscard]] int start_all(const DataCall& call, MPI_Request* request);

// Split collective access (MPI-5.0, 14.4.5). The end names the same kind of access as the beginning.
[[nodiscard]] int begin_split(const DataCall& call);
[[nodiscard]] int end_split(const char* function, MPI_File fh, bool writes, Pointer pointer, MPI_Status* status);

}  // namespace weft::mpi
