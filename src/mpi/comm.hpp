// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Making and ending communicators.

#include "mpi/object.hpp"

namespace weft::mpi {

// Makes `comm` the communicator of `group` (whose reference it takes) with these contexts.
void describe_comm(Comm& comm, uint32_t context, core::Group* group);

// Gives back what a communicator holds, but not the object.
void release_comm_parts(Comm& comm);

// Ends the communicators that were freed while operations on them were under way, and no longer are.
void free_unused_comms();

}  // namespace weft::mpi
