// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The entry points of include/mpix.h: PMPIX_X, and MPIX_X as a weak name of it. Their list for the linker is
// abi/extensions.txt.
#include "mpi/stream/enqueue.hpp"

#define WEFT_ENTRY extern "C" __attribute__((visibility("default")))
#define WEFT_ALIAS(of) __attribute__((weak, alias(#of), visibility("default")))

WEFT_ENTRY int PMPIX_Info_set_hex(MPI_Info info, const char* key, const void* value, int value_size) {
  return weft::mpi::info_set_hex(info, key, value, value_size);
}
WEFT_ENTRY int MPIX_Info_set_hex(MPI_Info info, const char* key, const void* value, int value_size)
    WEFT_ALIAS(PMPIX_Info_set_hex);

WEFT_ENTRY int PMPIX_Stream_create(MPI_Info info, MPIX_Stream* stream) {
  return weft::mpi::stream_create(info, stream);
}
WEFT_ENTRY int MPIX_Stream_create(MPI_Info info, MPIX_Stream* stream) WEFT_ALIAS(PMPIX_Stream_create);

WEFT_ENTRY int PMPIX_Stream_free(MPIX_Stream* stream) {
  return weft::mpi::stream_free(stream);
}
WEFT_ENTRY int MPIX_Stream_free(MPIX_Stream* stream) WEFT_ALIAS(PMPIX_Stream_free);

WEFT_ENTRY int PMPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm* newcomm) {
  return weft::mpi::stream_comm_create(comm, stream, newcomm);
}
WEFT_ENTRY int MPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm* newcomm)
    WEFT_ALIAS(PMPIX_Stream_comm_create);

WEFT_ENTRY int PMPIX_Comm_get_stream(MPI_Comm comm, int index, MPIX_Stream* stream) {
  return weft::mpi::comm_get_stream(comm, index, stream);
}
WEFT_ENTRY int MPIX_Comm_get_stream(MPI_Comm comm, int index, MPIX_Stream* stream) WEFT_ALIAS(PMPIX_Comm_get_stream);

WEFT_ENTRY int PMPIX_Send_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return weft::mpi::send_enqueue(buf, count, datatype, dest, tag, comm);
}
WEFT_ENTRY int MPIX_Send_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
    WEFT_ALIAS(PMPIX_Send_enqueue);

WEFT_ENTRY int PMPIX_Recv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                                  MPI_Status* status) {
  return weft::mpi::recv_enqueue(buf, count, datatype, source, tag, comm, status);
}
WEFT_ENTRY int MPIX_Recv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                                 MPI_Status* status) WEFT_ALIAS(PMPIX_Recv_enqueue);

WEFT_ENTRY int PMPIX_Isend_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                                   MPI_Request* request) {
  return weft::mpi::isend_enqueue(buf, count, datatype, dest, tag, comm, request);
}
WEFT_ENTRY int MPIX_Isend_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                                  MPI_Request* request) WEFT_ALIAS(PMPIX_Isend_enqueue);

WEFT_ENTRY int PMPIX_Irecv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                                   MPI_Request* request) {
  return weft::mpi::irecv_enqueue(buf, count, datatype, source, tag, comm, request);
}
WEFT_ENTRY int MPIX_Irecv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                                  MPI_Request* request) WEFT_ALIAS(PMPIX_Irecv_enqueue);

WEFT_ENTRY int PMPIX_Wait_enqueue(MPI_Request* request, MPI_Status* status) {
  return weft::mpi::wait_enqueue(request, status);
}
WEFT_ENTRY int MPIX_Wait_enqueue(MPI_Request* request, MPI_Status* status) WEFT_ALIAS(PMPIX_Wait_enqueue);

WEFT_ENTRY int PMPIX_Waitall_enqueue(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  return weft::mpi::waitall_enqueue(count, array_of_requests, array_of_statuses);
}
WEFT_ENTRY int MPIX_Waitall_enqueue(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
    WEFT_ALIAS(PMPIX_Waitall_enqueue);

WEFT_ENTRY int PMPIX_Allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                       MPI_Comm comm) {
  return weft::mpi::allreduce_enqueue(sendbuf, recvbuf, count, datatype, op, comm);
}
WEFT_ENTRY int MPIX_Allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                                      MPI_Comm comm) WEFT_ALIAS(PMPIX_Allreduce_enqueue);

WEFT_ENTRY int PMPIX_Put_notify_enqueue(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                        int target_rank, MPI_Aint target_disp, int target_count,
                                        MPI_Datatype target_datatype, int tag, MPI_Win win) {
  return weft::mpi::put_notify_enqueue(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                                       target_count, target_datatype, tag, win);
}
WEFT_ENTRY int MPIX_Put_notify_enqueue(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                       int target_rank, MPI_Aint target_disp, int target_count,
                                       MPI_Datatype target_datatype, int tag, MPI_Win win)
    WEFT_ALIAS(PMPIX_Put_notify_enqueue);

WEFT_ENTRY int PMPIX_Wait_notify_enqueue(int source, int tag, MPI_Win win) {
  return weft::mpi::wait_notify_enqueue(source, tag, win);
}
WEFT_ENTRY int MPIX_Wait_notify_enqueue(int source, int tag, MPI_Win win) WEFT_ALIAS(PMPIX_Wait_notify_enqueue);
