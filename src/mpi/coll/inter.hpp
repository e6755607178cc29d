// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations on intercommunicators: what the functions of collective.hpp do with one. The check has
// passed the communicator.

#include "mpi/coll/collective.hpp"

namespace weft::mpi {

int barrier_between(Check& check, const Form& form);
int bcast_between(Check& check, const Form& form, const BlockArgument& data, int root);
int gather_between(Check& check, const Form& form, const BlockArgument& data, const BlocksArgument& all, int root);
int scatter_between(Check& check, const Form& form, const BlocksArgument& all, const BlockArgument& data, int root);
int allgather_between(Check& check, const Form& form, const BlockArgument& data, const BlocksArgument& all);
int alltoall_between(Check& check, const Form& form, const BlocksArgument& send, const BlocksArgument& receive);
int reduce_between(Check& check, const Form& form, const ReductionArgument& data, MPI_Count count, int root);
int allreduce_between(Check& check, const Form& form, const ReductionArgument& data, MPI_Count count);
// The counts are those of our own group.
int reduce_scatter_between(Check& check, const Form& form, const ReductionArgument& data, const coll::Array& counts);

}  // namespace weft::mpi
