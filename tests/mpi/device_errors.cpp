// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data on a device whose driver fails (fake_cuda.c): the job ends with the call, the function of the driver, cause and
// remedy.
#include "expect.hpp"

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "weft_mem_device", "cuda");
  int* there = nullptr;
  MPI_Alloc_mem(4000, info, &there);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  int here[1000] = {};
  MPI_Allreduce(there, here, 1000, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  MPI_Free_mem(there);
  MPI_Info_free(&info);
  return expect::finish();
}
