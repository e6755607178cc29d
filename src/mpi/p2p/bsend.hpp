// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Buffered sends (MPI-5.0, 3.6).

#include "mpi/object/object.hpp"

namespace weft::mpi {

// Copies checked data into the buffer that serves the communicator and sends it from there. Returns what the MPI call
// must return: MPI_ERR_BUFFER, raised, when there is no room.
int buffered_send(Comm& comm, const void* buffer, MPI_Count count, Type& type, int dest, int tag, const char* function);

// Waits until the messages in a communicator's or session's buffer left it, and detaches it: for the end of its owner.
// Nothing happens when none is attached.
void end_buffer(BsendBuffer*& place);

// Waits until all buffers are empty and detaches them, for MPI_Finalize.
void flush_all_buffers();

}  // namespace weft::mpi
