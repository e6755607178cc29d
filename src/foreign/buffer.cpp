// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Buffers of MPI_Bsend: programs of other ABIs reckon with less overhead for each message.

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"

namespace weft::foreign {
int buffer_attach_c(void* buffer, MPI_Count size) {
  return error_out(face.hooks.attach_buffer(buffer_in(buffer), size, bsend_overhead));
}
int buffer_attach(void* buffer, int size) {
  return buffer_attach_c(buffer, size);
}

int comm_attach_buffer_c(Handle comm, void* buffer, MPI_Count size) {
  return error_out(face.hooks.comm_attach_buffer(in<MPI_Comm>(comm), buffer_in(buffer), size, bsend_overhead));
}
int comm_attach_buffer(Handle comm, void* buffer, int size) {
  return comm_attach_buffer_c(comm, buffer, size);
}

int session_attach_buffer_c(Handle session, void* buffer, MPI_Count size) {
  return error_out(face.hooks.session_attach_buffer(in<MPI_Session>(session), buffer_in(buffer), size, bsend_overhead));
}
int session_attach_buffer(Handle session, void* buffer, int size) {
  return session_attach_buffer_c(session, buffer, size);
}

}  // namespace weft::foreign
