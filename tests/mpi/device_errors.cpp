// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data on a device whose driver fails (FAKE_CUDA_FAILS): the class of the error is returned, and the library goes on;
// or, with the argument `fatal`, the job ends with the call, the function of the driver, cause and remedy. The second
// argument names the driver, cuda.
#include <cstring>

#include "expect.hpp"

namespace {

void returned(int* there, MPI_Info info) {
  int here[1000] = {}, answer = 0;
  EXPECT_CLASS(MPI_Sendrecv(here, 1000, MPI_INT, 0, 1, there, 1000, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE),
               MPI_ERR_OTHER);
  EXPECT_CLASS(MPI_Sendrecv(there, 1000, MPI_INT, 0, 1, here, 1000, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE),
               MPI_ERR_OTHER);
  EXPECT_CLASS(MPI_Allreduce(there, here, 1000, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OTHER);
  // Memory of the host is not concerned.
  const int value = 7;
  EXPECT_CLASS(MPI_Sendrecv(&value, 1, MPI_INT, 0, 2, &answer, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE),
               MPI_SUCCESS);
  EXPECT(answer == 7, "%d", answer);
  // More than the device has.
  EXPECT_CLASS(MPI_Alloc_mem(MPI_Aint{1} << 40, info, &there), MPI_ERR_NO_MEM);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  const bool fatal = argc > 1 && std::strcmp(argv[1], "fatal") == 0;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "weft_mem_device", argc > 2 ? argv[2] : "cuda");
  int* there = nullptr;
  MPI_Alloc_mem(4000, info, &there);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, fatal ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
  if (fatal) {
    int here[1000] = {};
    MPI_Allreduce(there, here, 1000, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  } else {
    returned(there, info);
  }
  MPI_Free_mem(there);
  MPI_Info_free(&info);
  return expect::finish();
}
