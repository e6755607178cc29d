// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of collectives and reduction operations come back as the error class that names them, on every rank
// and without communication.
#include <cstdint>
#include <initializer_list>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

int a[64], b[64], counts[16], places[16];
MPI_Comm comm;

void roots_and_counts() {
  EXPECT_CLASS(MPI_Bcast(a, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Bcast(a, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Bcast(a, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, size, comm), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, -3, comm), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, size + 7, comm), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Allgather(a, -2, MPI_INT, b, 1, MPI_INT, comm), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Alltoall(a, 1, MPI_INT, b, -1, MPI_INT, comm), MPI_ERR_COUNT);
  counts[size - 1] = -1;
  EXPECT_CLASS(MPI_Allgatherv(a, 1, MPI_INT, b, counts, places, MPI_INT, comm), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
  counts[size - 1] = 0;
  EXPECT_CLASS(MPI_Alltoallv(a, nullptr, places, MPI_INT, b, counts, places, MPI_INT, comm), MPI_ERR_ARG);
}

void communicators() {
  EXPECT_CLASS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Bcast(a, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Barrier(reinterpret_cast<MPI_Comm>(static_cast<intptr_t>(0x7f12))), MPI_ERR_COMM);
}

void types() {
  MPI_Datatype fresh;
  MPI_Type_contiguous(2, MPI_INT, &fresh);
  EXPECT_CLASS(MPI_Bcast(a, 1, fresh, 0, comm), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Allgather(a, 1, fresh, b, 1, MPI_INT, comm), MPI_ERR_TYPE);
  MPI_Type_commit(&fresh);
  EXPECT_CLASS(MPI_Allreduce(a, b, 1, fresh, MPI_SUM, comm), MPI_ERR_OP);
  MPI_Type_free(&fresh);
}

void buffers() {
  EXPECT_CLASS(MPI_Bcast(nullptr, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Allgather(a, 1, MPI_INT, nullptr, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, comm), MPI_ERR_BUFFER);
  if (rank != 0) {
    EXPECT_CLASS(MPI_Reduce(MPI_IN_PLACE, nullptr, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
    EXPECT_CLASS(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, nullptr, 0, MPI_INT, 0, comm), MPI_ERR_BUFFER);
  }
}

void wanted_function(void*, void*, int*, MPI_Datatype*) {}

void operations() {
  EXPECT_CLASS(MPI_Allreduce(a, b, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, comm), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAXLOC, comm), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, comm), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_NO_OP), MPI_ERR_OP);
  MPI_Op op = MPI_SUM;
  EXPECT_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Op_create(nullptr, 1, &op), MPI_ERR_ARG);
  MPI_Op_create(wanted_function, 1, &op);
  MPI_Op freed = op;
  MPI_Op_free(&op);
  EXPECT_CLASS(MPI_Op_free(&op), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Allreduce(a, b, 1, MPI_INT, freed, comm), MPI_ERR_OP);
}

// More data than fit into the buffer are an error on the receiver, and nothing behind the buffer is written.
void too_long() {
  b[1] = -9;
  EXPECT_CLASS(MPI_Gather(a, 2, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
  EXPECT(b[1] == -9, "%d was written behind the buffer", b[1]);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_CLASS(MPI_Igather(a, 2, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_SELF, &request), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  EXPECT(b[1] == -9, "%d was written behind the buffer", b[1]);
  for (int count : {2, 20000}) {
    static int data[20000];
    data[1] = rank == 0 ? 7 : -9;
    const int error = MPI_Bcast(data, rank == 0 ? count : 1, MPI_INT, 0, comm);
    const bool ended = rank == 0 && error == MPI_SUCCESS;  // it waits for nobody, unless the ranks compare their calls
    EXPECT(ended || expect::class_of(error) == MPI_ERR_TRUNCATE, "class %d", expect::class_of(error));
    EXPECT(data[1] == (rank == 0 ? 7 : -9), "%d was written behind the buffer", data[1]);
    // Rank 0 is not in the next broadcast yet when rank 1 finds out: that one would end with an error too.
    EXPECT_CLASS(MPI_Barrier(comm), MPI_SUCCESS);
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  roots_and_counts();
  communicators();
  types();
  buffers();
  operations();
  if (size <= 2) too_long();  // with more ranks some would hand on what they got
  EXPECT_CLASS(MPI_Barrier(comm), MPI_SUCCESS);
  return expect::finish();
}
