// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The functions of include/mpix.h, behind their entry points (entry.cpp).

#include <mpix.h>

namespace weft::mpi {

int info_set_hex(MPI_Info info, const char* key, const void* value, int value_size);
int stream_create(MPI_Info info, MPIX_Stream* stream);
int stream_free(MPIX_Stream* stream);
int stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm* newcomm);
int comm_get_stream(MPI_Comm comm, int index, MPIX_Stream* stream);
int send_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int recv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status);
int isend_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request);
int irecv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                  MPI_Request* request);
int wait_enqueue(MPI_Request* request, MPI_Status* status);
int waitall_enqueue(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]);
int allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int put_notify_enqueue(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                       MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int tag, MPI_Win win);
int wait_notify_enqueue(int source, int tag, MPI_Win win);

}  // namespace weft::mpi
