/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of Weft to MPI: operations that are enqueued on a stream of a device (docs/guide/devices.md). Names and
 * arguments of the functions are those of MPICH where it has them; the notified put is our own. No other library with
 * the standard ABI has to have them.
 *
 * An operation on a stream begins when the stream reaches it, after all work that was enqueued before, and the stream
 * goes on when the operation is complete. The calls return at once; buffers, and statuses that are given, belong to the
 * operation until the stream has passed it. Arguments are checked by the call. An error of the operation itself goes to
 * the error handler of its object; if that returns, the next call on the stream and MPIX_Stream_free return its class.
 * They take MPI_THREAD_MULTIPLE. */
#ifndef WEFT_MPIX_H
#define WEFT_MPIX_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MPIX_ABI_Stream* MPIX_Stream;
#define MPIX_STREAM_NULL ((MPIX_Stream)0)

/* Sets `value_size` bytes at `value` as the value of a key, in a form that a string can hold. */
int MPIX_Info_set_hex(MPI_Info info, const char* key, const void* value, int value_size);

/* The stream of a device that `info` names: "type" is "cudaStream_t" or "hipStream_t", as WEFT_DEVICES has the driver,
 * and "value" is the stream (MPIX_Info_set_hex with its address). It must live until MPIX_Stream_free. */
int MPIX_Stream_create(MPI_Info info, MPIX_Stream* stream);
/* Waits for the operations on it. Communicators and windows that have it keep it. */
int MPIX_Stream_free(MPIX_Stream* stream);

/* A communicator whose operations below are enqueued on the stream; collective over `comm`, each rank with a stream of
 * its own, or MPIX_STREAM_NULL. Its duplicates and its windows have the same stream. MPI_Comm_free and MPI_Win_free
 * wait for the operations on it. */
int MPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm* newcomm);
/* `index` is 0: a communicator has one stream, or MPIX_STREAM_NULL. */
int MPIX_Comm_get_stream(MPI_Comm comm, int index, MPIX_Stream* stream);

int MPIX_Send_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPIX_Recv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                      MPI_Status* status);

/* The stream starts the operation and goes on. The request is for MPIX_Wait_enqueue and MPIX_Waitall_enqueue alone, on
 * the same stream, which waits there until it is complete. */
int MPIX_Isend_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request* request);
int MPIX_Irecv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                       MPI_Request* request);
int MPIX_Wait_enqueue(MPI_Request* request, MPI_Status* status);
int MPIX_Waitall_enqueue(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]);

int MPIX_Allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm);

/* Puts data as MPI_Put does, in an epoch of MPI_Win_lock or MPI_Win_lock_all, and notifies the target once they are
 * there. Notifications of one rank with one tag come in the order of their calls. */
int MPIX_Put_notify_enqueue(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int tag, MPI_Win win);
/* The stream waits for one notification of rank `source`, or MPI_ANY_SOURCE, with this tag. The data of its put are in
 * the window then. */
int MPIX_Wait_notify_enqueue(int source, int tag, MPI_Win win);

#ifdef __cplusplus
}
#endif

#endif
