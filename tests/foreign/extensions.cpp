// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Functions that MPICH and Intel MPI add: those that do something here, and the error of the others.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "same.hpp"

namespace {

// Nobody has failed: all agree, and the rest of a communicator is all of it.
void failures() {
  int flag = 0xff & ~(1 << expect::rank);
  SAME(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_SUCCESS);
  SAME(flag, 0xff & ~((1 << expect::size) - 1));
  SAME(MPIX_Comm_failure_ack(MPI_COMM_WORLD), MPI_SUCCESS);
  MPI_Group failed = MPI_GROUP_NULL;
  SAME(MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed), MPI_SUCCESS);
  SAME(failed, MPI_GROUP_EMPTY);
  failed = MPI_GROUP_NULL;
  SAME(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed), MPI_SUCCESS);
  SAME(failed, MPI_GROUP_EMPTY);
  MPI_Comm rest = MPI_COMM_NULL;
  SAME(MPIX_Comm_shrink(MPI_COMM_WORLD, &rest), MPI_SUCCESS);
  int result = -1;
  MPI_Comm_compare(MPI_COMM_WORLD, rest, &result);
  SAME(result, MPI_CONGRUENT);
  MPI_Comm_free(&rest);
  SAME(expect::class_of(MPIX_Comm_failure_ack(12345)), MPI_ERR_COMM);
  SAME(expect::class_of(MPIX_Comm_agree(12345, &flag)), MPI_ERR_COMM);
}

// The first group gives bits, the second others; both get what all have in common.
void agree_between() {
  if (expect::size < 2) return;
  const int side = expect::rank % 2;
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, side, expect::rank, &group);
  MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - side, 5, &between);
  int flag = side == 0 ? 7 : 6 + 8;
  SAME(MPIX_Comm_agree(between, &flag), MPI_SUCCESS);
  SAME(flag, 6);
  MPI_Comm_free(&between);
  MPI_Comm_free(&group);
}

void streams() {
  constexpr int null_stream = 0x3c000000;  // MPIX_STREAM_NULL
  int first = 0;
  int second = 0;
  SAME(MPIX_Stream_create(MPI_INFO_NULL, &first), MPI_SUCCESS);
  SAME(MPIX_Stream_create(MPI_INFO_NULL, &second), MPI_SUCCESS);
  HOLDS(first != second && first != null_stream);
  SAME(MPIX_Stream_progress(first), MPI_SUCCESS);
  SAME(MPIX_Stream_progress(null_stream), MPI_SUCCESS);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  SAME(MPIX_Stream_comm_create(MPI_COMM_WORLD, second, &comm), MPI_SUCCESS);
  MPI_Comm_dup(comm, &copy);
  for (const MPI_Comm of : {comm, copy}) {
    int found = 0;
    SAME(MPIX_Comm_get_stream(of, 0, &found), MPI_SUCCESS);
    SAME(found, second);
  }
  int found = 0;
  SAME(MPIX_Comm_get_stream(MPI_COMM_WORLD, 0, &found), MPI_SUCCESS);
  SAME(found, null_stream);
  SAME(expect::class_of(MPIX_Comm_get_stream(comm, 1, &found)), MPI_ERR_ARG);

  const int next = (expect::rank + 1) % expect::size;
  const int before = (expect::rank + expect::size - 1) % expect::size;
  int got = -1;
  int got_wide = -1;
  int got_last = -1;
  MPI_Request requests[3];
  MPI_Status status;
  SAME(MPIX_Stream_irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, -1, 0, &requests[0]), MPI_SUCCESS);
  SAME(MPIX_Stream_irecv_c(&got_wide, 1, MPI_INT, before, 2, comm, 0, 0, &requests[1]), MPI_SUCCESS);
  SAME(MPIX_Stream_send(&expect::rank, 1, MPI_INT, next, 1, comm, 0, 0), MPI_SUCCESS);
  SAME(MPIX_Stream_send_c(&expect::rank, 1, MPI_INT, next, 2, comm, 0, 0), MPI_SUCCESS);
  SAME(MPIX_Stream_isend(&expect::rank, 1, MPI_INT, next, 3, comm, 0, 0, &requests[2]), MPI_SUCCESS);
  SAME(MPIX_Stream_recv(&got_last, 1, MPI_INT, before, MPI_ANY_TAG, comm, 0, 0, &status), MPI_SUCCESS);
  SAME(status.MPI_SOURCE, before);
  SAME(status.MPI_TAG, 3);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  SAME(got, before);
  SAME(got_wide, before);
  SAME(got_last, before);
  SAME(expect::class_of(MPIX_Stream_send(&got, 1, MPI_INT, next, 1, comm, 0, 1)), MPI_ERR_ARG);
  SAME(expect::class_of(MPIX_Stream_send(MPI_IN_PLACE, 1, MPI_INT, next, 1, comm, 0, 0)), MPI_ERR_BUFFER);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);

  const int freed = first;
  SAME(MPIX_Stream_free(&first), MPI_SUCCESS);
  SAME(first, null_stream);
  SAME(expect::class_of(MPIX_Stream_progress(freed)), MPI_ERR_ARG);
  int again = freed;
  SAME(expect::class_of(MPIX_Stream_free(&again)), MPI_ERR_ARG);
  SAME(expect::class_of(MPIX_Stream_comm_create(MPI_COMM_SELF, freed, &comm)), MPI_ERR_ARG);
  SAME(MPIX_Stream_create(MPI_INFO_NULL, &again), MPI_SUCCESS);
  SAME(again, freed);
  MPIX_Stream_free(&again);
  MPIX_Stream_free(&second);

  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "type", "cudaStream_t");
  SAME(expect::class_of(MPIX_Stream_create(info, &first)), MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_Info_free(&info);
}

struct Piece {  // MPIX_Iov
  char* base;
  MPI_Aint length;
};

// More pieces than the library lists at once, in parts and whole.
void pieces() {
  constexpr int blocks = 150;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, 2, 3, MPI_INT, &type);
  MPI_Count number = -1;
  MPI_Count bytes = -1;
  SAME(MPIX_Type_iov_len(type, -1, &number, &bytes), MPI_SUCCESS);
  SAME(number, blocks);
  SAME(bytes, blocks * 8);
  SAME(MPIX_Type_iov_len(type, 100 * 8 + 7, &number, &bytes), MPI_SUCCESS);
  SAME(number, 100);
  SAME(bytes, 100 * 8);
  Piece listed[blocks + 1] = {};
  SAME(MPIX_Type_iov(type, 0, listed, blocks + 1, &number), MPI_SUCCESS);
  SAME(number, blocks);
  for (int i = 0; i < blocks; ++i) {
    SAME(reinterpret_cast<intptr_t>(listed[i].base), i * 12);
    SAME(listed[i].length, 8);
  }
  Piece some[3] = {};
  SAME(MPIX_Type_iov(type, 70, some, 2, &number), MPI_SUCCESS);
  SAME(number, 2);
  HOLDS(memcmp(some, &listed[70], 2 * sizeof(Piece)) == 0 && some[2].length == 0);
  SAME(MPIX_Type_iov(type, blocks, some, 2, &number), MPI_SUCCESS);
  SAME(number, 0);
  MPI_Type_free(&type);
  SAME(MPIX_Type_iov_len(MPI_DOUBLE, -1, &number, nullptr), MPI_SUCCESS);
  SAME(number, 1);
  SAME(expect::class_of(MPIX_Type_iov_len(12345, -1, &number, &bytes)), MPI_ERR_TYPE);
  SAME(expect::class_of(MPIX_Type_iov(MPI_INT, -1, some, 1, &number)), MPI_ERR_ARG);
  SAME(expect::class_of(MPIX_Type_iov(MPI_INT, 0, nullptr, 1, &number)), MPI_ERR_ARG);
}

void others() {
  int flag = -1;
  SAME(MPIX_Comm_test_threadcomm(MPI_COMM_WORLD, &flag), MPI_SUCCESS);
  SAME(flag, 0);

  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  const unsigned char value[] = {0, 0x9a, 0xff};
  SAME(MPIX_Info_set_hex(info, "value", value, sizeof value), MPI_SUCCESS);
  char text[MPI_MAX_INFO_VAL] = "";
  MPI_Info_get(info, "value", sizeof text - 1, text, &flag);
  HOLDS(strcmp(text, "009aff") == 0);
  SAME(expect::class_of(MPIX_Info_set_hex(info, "value", value, MPI_MAX_INFO_VAL)), MPI_ERR_INFO_VALUE);
  SAME(expect::class_of(MPIX_Info_set_hex(info, "value", value, -1)), MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);

  int number = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  SAME(MPIX_Request_is_complete(request), 1);
  MPI_Irecv(&number, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
  SAME(MPIX_Request_is_complete(request), 0);
  MPI_Send(&number, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
  while (MPIX_Request_is_complete(request) == 0) {
  }
  HOLDS(request != MPI_REQUEST_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  HOLDS(MPI_F08_STATUS_IGNORE != nullptr && MPI_F08_STATUSES_IGNORE != nullptr);
  MPI_Status status;
  HOLDS(MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &status) != MPI_SUCCESS);
}

// Tools tell libraries of different ABIs apart by these.
void versions() {
  int major = 0;
  int minor = 0;
  SAME(MPI_Abi_get_version(&major, &minor), MPI_SUCCESS);
  SAME(major, -1);
  SAME(minor, -1);
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  SAME(MPI_Get_library_version(text, &length), MPI_SUCCESS);
  SAME(length, static_cast<int>(strlen(text)));
  HOLDS(strstr(text, "Weft") != nullptr && strstr(text, "MPICH ABI 12") != nullptr);
  HOLDS(strstr(text, "standard ABI") == nullptr);
}

void refused() {
  SAME(expect::class_of(MPIX_Comm_revoke()), MPI_ERR_UNSUPPORTED_OPERATION);
  SAME(expect::class_of(MPIX_Threadcomm_init()), MPI_ERR_UNSUPPORTED_OPERATION);
  SAME(expect::class_of(MPIX_Send_enqueue()), MPI_ERR_UNSUPPORTED_OPERATION);
  SAME(expect::class_of(MPIX_Put_notify()), MPI_ERR_UNSUPPORTED_OPERATION);
  SAME(expect::class_of(PMPIX_Async_start()), MPI_ERR_UNSUPPORTED_OPERATION);
  HOLDS(MPIX_Async_get_state(nullptr) == nullptr);
  SAME(expect::class_of(QMPI_Get_function()), MPI_ERR_UNSUPPORTED_OPERATION);
}

}  // namespace

int main(int argc, char** argv) {
  // A tool asks so when it is loaded: the answer ends nothing.
  const int early = QMPI_Register_tool_name();
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  failures();
  agree_between();
  streams();
  pieces();
  others();
  versions();
  refused();
  SAME(expect::class_of(early), MPI_ERR_UNSUPPORTED_OPERATION);
  return expect::finish();
}
