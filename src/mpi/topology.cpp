// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies (MPI-5.0, chapter 8). No communicator has one yet.

#include "mpi/functions.hpp"
#include "mpi/handles.hpp"

namespace weft::mpi {

int topo_test(MPI_Comm comm, int* status) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Topo_test", comm);
  if (status == nullptr) return null_argument(c, "MPI_Topo_test", "status");
  *status = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
