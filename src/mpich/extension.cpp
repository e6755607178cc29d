// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Functions that MPICH and Intel MPI add, and the removed ones that only have another name. And the start, as MPICH's
// programs expect the errors of calls without a communicator where MPICH has them.

#include "mpich/array.hpp"
#include "mpich/by_hand.hpp"
#include "mpich/convert.hpp"

namespace weft::mpich {

namespace {

void begin() {
  face.hooks.prefer_world_for_errors();
  face.hooks.set_code_of_not_started(error_out(MPI_ERR_SPAWN));
}

}  // namespace

int init(int* argc, char*** argv) {
  begin();
  return error_out(face.init(argc, argv));
}

int init_thread(int* argc, char*** argv, int required, int* provided) {
  begin();
  return error_out(face.init_thread(argc, argv, thread_in(required), ValueOut<thread_out>(provided)));
}

// The arguments of others than the root mean nothing, not even how many there are.
int comm_spawn_multiple(int count, char* commands[], char** arguments[], const int maxprocs[], const int infos[],
                        int root, int comm, int* intercomm, int codes[]) {
  int rank = root;
  if (face.comm_rank(in<MPI_Comm>(comm), &rank) != MPI_SUCCESS || rank != root) count = 0;
  return error_out(face.comm_spawn_multiple(count, commands, arguments, maxprocs, HandlesIn<MPI_Info>(count, infos),
                                            rank_in(root), in<MPI_Comm>(comm), Out<MPI_Comm>(intercomm), codes));
}

int errhandler_get(int comm, int* errhandler) {
  return error_out(face.comm_get_errhandler(in<MPI_Comm>(comm), Out<MPI_Errhandler>(errhandler)));
}

int errhandler_set(int comm, int errhandler) {
  return error_out(face.comm_set_errhandler(in<MPI_Comm>(comm), in<MPI_Errhandler>(errhandler)));
}

// Buffers in the memory of accelerators are not supported.
int mpix_query_cuda_support() {
  return 0;
}
int mpix_query_hip_support() {
  return 0;
}
int mpix_query_ze_support() {
  return 0;
}

int mpix_gpu_query_support(int gpu_type, int* is_supported) {
  constexpr int last_type = 2;  // CUDA, Level Zero, HIP
  if (gpu_type < 0 || gpu_type > last_type || no_place(is_supported)) return error_out(MPI_ERR_ARG);
  *is_supported = 0;
  return MPI_SUCCESS;
}

}  // namespace weft::mpich
