// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The start, as programs of other ABIs expect the errors of calls without a communicator where MPI-3 has them;
// spawning; removed functions that only have another name; and how functions are refused.

#include "foreign/array.hpp"
#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"
#include "foreign/refuse.hpp"

namespace weft::foreign {

namespace {

void begin() {
  face.hooks.prefer_world_for_errors();
  face.hooks.set_code_of_not_started(error_out(MPI_ERR_SPAWN));
}

}  // namespace

int init(int* argc, char*** argv) {
  begin();
  const int error = face.init(argc, argv);
  after_init();
  return error_out(error);
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  begin();
  const int error = face.init_thread(argc, argv, thread_in(required), ValueOut<thread_out>(provided));
  after_init();
  return error_out(error);
}

// The arguments of others than the root mean nothing, not even how many there are.
int comm_spawn_multiple(int count, char* commands[], char** arguments[], const int maxprocs[], const Handle infos[],
                        int root, Handle comm, Handle* intercomm, int codes[]) {
  int rank = root;
  if (face.comm_rank(in<MPI_Comm>(comm), &rank) != MPI_SUCCESS || rank != root) count = 0;
  return error_out(face.comm_spawn_multiple(count, commands, arguments, maxprocs, HandlesIn<MPI_Info>(count, infos),
                                            rank_in(root), in<MPI_Comm>(comm), Out<MPI_Comm>(intercomm), codes));
}

int errhandler_get(Handle comm, Handle* errhandler) {
  return error_out(face.comm_get_errhandler(in<MPI_Comm>(comm), Out<MPI_Errhandler>(errhandler)));
}

int errhandler_set(Handle comm, Handle errhandler) {
  return error_out(face.comm_set_errhandler(in<MPI_Comm>(comm), in<MPI_Errhandler>(errhandler)));
}

int refuse(const char* function, const char* reason) {
  return refuse_argument(function, MPI_ERR_UNSUPPORTED_OPERATION, reason);
}

int refuse_argument(const char* function, int error, const char* reason) {
  return error_out(face.hooks.raise(function, error, reason));
}

// Buffers in the memory of accelerators are not supported.
int mpix_query_cuda_support() {
  return 0;
}

}  // namespace weft::foreign
