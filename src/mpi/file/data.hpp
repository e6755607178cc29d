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

[[nodiscard]] int run(const DataCall& call, MPI_Status* status);

}  // namespace weft::mpi
