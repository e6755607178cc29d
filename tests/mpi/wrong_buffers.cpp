// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Buffers that are none: MPI_IN_PLACE where it means nothing, MPI_BOTTOM with data at address 0, small numbers, each
// with a contiguous datatype and with one that has gaps. An error of every call, and no crash. Compiled for the
// standard's ABI and for MPICH's, whose MPI_IN_PLACE is another number.
#include <mpi.h>

#include <cstdio>
#include <cstring>

#include "expect.hpp"

namespace {

MPI_Comm comm = MPI_COMM_SELF;
MPI_Datatype type = MPI_INT;  // of the one element that each call moves

// The call fails; the class is MPI_ERR_BUFFER, or the other one.
#define BAD_OR(call, other)                                                                        \
  do {                                                                                             \
    const int bad_class = expect::class_of(call);                                                  \
    EXPECT(bad_class == MPI_ERR_BUFFER || bad_class == (other), "class %d of %p", bad_class, bad); \
  } while (0)
#define BAD(call) BAD_OR(call, MPI_ERR_BUFFER)

void messages(void* bad) {
  int good[4] = {};
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  BAD(MPI_Send(bad, 1, type, 0, 0, comm));
  BAD(MPI_Ssend(bad, 1, type, 0, 0, comm));
  BAD(MPI_Rsend(bad, 1, type, 0, 0, comm));
  BAD(MPI_Bsend(bad, 1, type, 0, 0, comm));
  BAD(MPI_Isend(bad, 1, type, 0, 0, comm, &request));
  BAD(MPI_Issend(bad, 1, type, 0, 0, comm, &request));
  BAD(MPI_Ibsend(bad, 1, type, 0, 0, comm, &request));
  BAD(MPI_Irecv(bad, 1, type, 0, 0, comm, &request));
  BAD(MPI_Irecv(bad, 1, type, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request));
  BAD(MPI_Recv(bad, 1, type, 0, 0, comm, &status));
  BAD(MPI_Send_init(bad, 1, type, 0, 0, comm, &request));
  BAD(MPI_Recv_init(bad, 1, type, 0, 0, comm, &request));
  BAD(MPI_Psend_init(bad, 1, 1, type, 0, 0, comm, MPI_INFO_NULL, &request));
  BAD(MPI_Precv_init(bad, 1, 1, type, 0, 0, comm, MPI_INFO_NULL, &request));
  BAD(MPI_Sendrecv(bad, 1, type, 0, 0, good, 1, type, 0, 0, comm, &status));
  BAD(MPI_Sendrecv(good, 1, type, 0, 0, bad, 1, type, 0, 0, comm, &status));
  BAD(MPI_Sendrecv_replace(bad, 1, type, 0, 0, 0, 0, comm, &status));
  EXPECT(request == MPI_REQUEST_NULL, "a failed call made a request");

  MPI_Request sent = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Isend(good, 1, type, 0, 3, comm, &sent);
  MPI_Mprobe(0, 3, comm, &message, &status);
  BAD(MPI_Mrecv(bad, 1, type, &message, &status));
  BAD(MPI_Imrecv(bad, 1, type, &message, &request));
  MPI_Mrecv(good, 1, type, &message, &status);
  MPI_Wait(&sent, &status);

  int position = 0;
  int packed[8] = {};
  BAD(MPI_Pack(bad, 1, type, packed, sizeof packed, &position, comm));
  BAD(MPI_Unpack(packed, sizeof packed, &position, bad, 1, type, comm));
  BAD(MPI_Pack(good, 1, type, bad, sizeof packed, &position, comm));
  BAD(MPI_Unpack(bad, sizeof packed, &position, good, 1, type, comm));

  // Nothing is moved.
  MPI_Isend(bad, 0, type, 0, 4, comm, &sent);
  EXPECT_CLASS(MPI_Recv(bad, 0, type, 0, 4, comm, &status), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Wait(&sent, &status), MPI_SUCCESS);
}

void windows(void* bad) {
  int good[4] = {};
  int memory[16] = {};
  MPI_Win win = MPI_WIN_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  BAD_OR(MPI_Win_create(bad, 64, 1, MPI_INFO_NULL, comm, &win), MPI_ERR_BASE);
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  BAD(MPI_Put(bad, 1, type, 0, 0, 1, type, win));
  BAD(MPI_Get(bad, 1, type, 0, 0, 1, type, win));
  BAD(MPI_Put(bad, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win));
  BAD(MPI_Get(bad, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win));
  BAD(MPI_Rput(bad, 1, type, 0, 0, 1, type, win, &request));
  BAD(MPI_Rget(bad, 1, type, 0, 0, 1, type, win, &request));
  BAD(MPI_Accumulate(bad, 1, type, 0, 0, 1, type, MPI_SUM, win));
  BAD(MPI_Get_accumulate(bad, 1, type, good, 1, type, 0, 0, 1, type, MPI_SUM, win));
  BAD(MPI_Get_accumulate(good, 1, type, bad, 1, type, 0, 0, 1, type, MPI_SUM, win));
  BAD(MPI_Fetch_and_op(bad, good, MPI_INT, 0, 0, MPI_SUM, win));
  BAD(MPI_Fetch_and_op(good, bad, MPI_INT, 0, 0, MPI_SUM, win));
  BAD_OR(MPI_Compare_and_swap(bad, good, good + 1, MPI_INT, 0, 0, win), MPI_ERR_ARG);
  BAD_OR(MPI_Compare_and_swap(good, bad, good + 1, MPI_INT, 0, 0, win), MPI_ERR_ARG);
  BAD_OR(MPI_Compare_and_swap(good, good + 1, bad, MPI_INT, 0, 0, win), MPI_ERR_ARG);
  MPI_Win_unlock_all(win);
  for (const int number : memory) EXPECT(number == 0, "a failed call stored %d", number);
  MPI_Win_free(&win);
}

// MPI_IN_PLACE means something to some of these, so calls with it are in coll_errors.cpp.
void collectives(void* bad) {
  int good[4] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  BAD(MPI_Bcast(bad, 1, type, 0, comm));
  BAD(MPI_Ibcast(bad, 1, type, 0, comm, &request));
  BAD(MPI_Allgather(good, 1, type, bad, 1, type, comm));
  BAD(MPI_Alltoall(good, 1, type, bad, 1, type, comm));
  BAD(MPI_Gather(good, 1, type, bad, 1, type, 0, comm));
  BAD(MPI_Scatter(bad, 1, type, good, 1, type, 0, comm));
  BAD(MPI_Allreduce(good, bad, 1, MPI_INT, MPI_SUM, comm));
  BAD(MPI_Iallreduce(good, bad, 1, MPI_INT, MPI_SUM, comm, &request));
  BAD(MPI_Scan(good, bad, 1, MPI_INT, MPI_SUM, comm));
  BAD(MPI_Reduce_local(good, bad, 1, MPI_INT, MPI_SUM));
  BAD(MPI_Reduce_local(bad, good, 1, MPI_INT, MPI_SUM));
}

void files(void* bad) {
  char name[64];
  snprintf(name, sizeof name, "wrong_buffers.%d", expect::rank);
  MPI_File file = MPI_FILE_NULL;
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  EXPECT_CLASS(MPI_File_open(comm, name, mode, MPI_INFO_NULL, &file), MPI_SUCCESS);
  const long word = 1;
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_write_at(file, 0, &word, 8, MPI_BYTE, &status);
  BAD(MPI_File_write_at(file, 0, bad, 1, type, &status));
  BAD(MPI_File_read_at(file, 0, bad, 1, type, &status));
  BAD(MPI_File_write_at_all(file, 0, bad, 1, type, &status));
  BAD(MPI_File_iread_at(file, 0, bad, 1, type, &request));
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  static char attached[4096];
  MPI_Buffer_attach(attached, sizeof attached);
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_SHORT, &gaps);
  MPI_Type_commit(&gaps);
  for (const MPI_Datatype moved : {MPI_INT, gaps}) {
    type = moved;
    for (void* bad : {static_cast<void*>(MPI_IN_PLACE), static_cast<void*>(MPI_BOTTOM), reinterpret_cast<void*>(4)}) {
      messages(bad);
      if (moved == MPI_INT) windows(bad);
      if (bad != MPI_IN_PLACE) collectives(bad);
      files(bad);
    }
  }
  MPI_Type_free(&gaps);
  void* detached = nullptr;
  int bytes = 0;
  MPI_Buffer_detach(&detached, &bytes);
  return expect::finish();
}
