// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The functions of fault tolerance that MPICH and Open MPI have, in jobs that end when one of their processes does:
// nobody has failed.

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"
#include "foreign/refuse.hpp"

namespace weft::foreign {
namespace {

int no_failures(const char* function, Handle comm, Handle* failed) {
  int size = 0;
  if (int error = face.comm_size(in<MPI_Comm>(comm), &size)) return error_out(error);
  if (no_place(failed)) return refuse_argument(function, MPI_ERR_ARG, "failedgrp is a null pointer");
  *failed = out(MPI_GROUP_EMPTY);
  return MPI_SUCCESS;
}

}  // namespace

int mpix_comm_failure_ack(Handle comm) {
  int size = 0;
  return error_out(face.comm_size(in<MPI_Comm>(comm), &size));
}

int mpix_comm_failure_get_acked(Handle comm, Handle* failedgrp) {
  return no_failures("MPIX_Comm_failure_get_acked", comm, failedgrp);
}

int mpix_comm_get_failed(Handle comm, Handle* failedgrp) {
  return no_failures("MPIX_Comm_get_failed", comm, failedgrp);
}

// All bits that every process has given. Between two groups each gets the other's, and that goes back.
int mpix_comm_agree(Handle comm, int* flag) {
  if (no_place(flag)) return refuse_argument("MPIX_Comm_agree", MPI_ERR_ARG, "flag is a null pointer");
  const auto in_comm = in<MPI_Comm>(comm);
  int between = 0;
  int others = 0;
  if (int error = face.comm_test_inter(in_comm, &between)) return error_out(error);
  if (int error = face.allreduce_c(flag, &others, 1, MPI_INT, MPI_BAND, in_comm)) return error_out(error);
  int all = others;
  if (between != 0) {
    if (int error = face.allreduce_c(&others, &all, 1, MPI_INT, MPI_BAND, in_comm)) return error_out(error);
  }
  *flag = all & others;
  return MPI_SUCCESS;
}

int mpix_comm_shrink(Handle comm, Handle* newcomm) {
  return error_out(face.comm_dup(in<MPI_Comm>(comm), Out<MPI_Comm>(newcomm)));
}

}  // namespace weft::foreign
