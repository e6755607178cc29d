// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Functions that MPICH and Intel MPI add, and the removed ones that only have another name. And the start, as MPICH's
// programs expect the errors of calls without a communicator where MPICH has them.

#include "mpich/array.hpp"
#include "mpich/by_hand.hpp"
#include "mpich/convert.hpp"
#include "mpich/refuse.hpp"

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

int refuse(const char* function, const char* reason) {
  return refuse_argument(function, MPI_ERR_UNSUPPORTED_OPERATION, reason);
}

int refuse_argument(const char* function, int error, const char* reason) {
  return error_out(face.hooks.raise(function, error, reason));
}

// The value is told in hexadecimal digits: an info object holds text alone.
int mpix_info_set_hex(int info, const char* key, const void* value, int value_size) {
  static constexpr char digits[] = "0123456789abcdef";
  constexpr int longest = (MPI_MAX_INFO_VAL - 1) / 2;
  if (value_size <= 0 || value_size > longest || no_place(value))
    return refuse_argument("MPIX_Info_set_hex", MPI_ERR_INFO_VALUE, "no value, or one that is too long");
  char text[2 * longest + 1];
  char* end = text;
  for (int i = 0; i < value_size; ++i) {
    const auto byte = static_cast<const unsigned char*>(value)[i];
    *end++ = digits[byte >> 4];
    *end++ = digits[byte & 15];
  }
  *end = '\0';
  return error_out(face.info_set(in<MPI_Info>(info), key, text));
}

// A null request, and one that is none, is complete.
int mpix_request_is_complete(int request) {
  if (request == out(MPI_REQUEST_NULL)) return 1;
  int complete = 0;
  if (face.request_get_status(in<MPI_Request>(request), &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS) return 1;
  return complete;
}

// Nothing starts an operation that has a state (MPIX_Async_start).
void* mpix_async_get_state(void* /*async_thing*/) {
  (void)refuse("MPIX_Async_get_state", "operations of the program that MPI's progress calls are not supported");
  return nullptr;
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
