// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Hooks for another face (src/foreign), beside the standard's functions: the place of the arena, from which it computes
// handles of its own, and callbacks that want the handles of its side.

#include <atomic>

#include "base/message.hpp"
#include "datatype/runs.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

// The ranks with which a collective operation on a communicator exchanges data: blocks received, and sent.
struct Exchanges {
  int32_t sources;
  int32_t destinations;
};

// Another face's part in a collective operation of a request: memory that stands in for arrays with gaps.
struct Around {
  void (*begin)(Around* around);  // each start of a persistent one
  void (*end)(Around* around);    // each completion, before it is seen
  void (*gone)(Around* around);   // the request is freed
};

struct FaceHooks {
  const std::atomic<uintptr_t>* arena_base;  // does not change once a handle of an object exists
  // Mark what the face has just made, before its program gets the handle.
  void (*mark_op)(MPI_Op op, const ForeignCalls* calls);
  void (*mark_errhandler)(MPI_Errhandler errhandler, const ForeignCalls* calls);
  // All ranks of the communicator (the remote group of an intercommunicator), or its neighbours; zeros where the
  // handle is wrong or there is no topology: the function called next reports that.
  Exchanges (*exchanges)(MPI_Comm comm, bool neighbours);
  // MPI_Buffer_attach and its kin with the overhead of a message in the buffer that the program reckons with.
  int (*attach_buffer)(void* buffer, MPI_Count size, int64_t overhead);
  int (*comm_attach_buffer)(MPI_Comm comm, void* buffer, MPI_Count size, int64_t overhead);
  int (*session_attach_buffer)(MPI_Session session, void* buffer, MPI_Count size, int64_t overhead);
  // Errors of calls without a communicator are MPI_COMM_WORLD's rather than MPI_COMM_SELF's (WEFT_ERRORS_OF_WORLD).
  void (*prefer_world_for_errors)();
  // The code of a process that was not spawned, as the face has it.
  void (*set_code_of_not_started)(int code);
  // MPI_Isend; the request, which is an even address, or twice the error code and 1.
  uintptr_t (*isend)(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
  // MPI_Put and MPI_Get of as many elements of the same type there as here.
  int (*put)(const void* origin, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win);
  int (*get)(void* origin, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win);
  void (*die)(const base::Problem& problem);  // ends the job
  // The next request of a collective operation that the calling thread makes takes `around`. Returns the one before, if
  // no request has taken it.
  Around* (*surround)(Around* around);
  // The packed bytes of `count` elements from `position` on as runs, whose addresses count from the buffer's start.
  datatype::Runs (*list_runs)(MPI_Datatype datatype, MPI_Count count, MPI_Count position, iovec* runs, int room);
  int (*raise)(const char* function, int error, const char* text);  // an error of a call without a communicator
};

extern const FaceHooks face_hooks;

// coll/request.cpp
[[nodiscard]] Around* surround(Around* around);

// p2p/p2p.cpp and win/put.cpp
[[nodiscard]] uintptr_t isend_made(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                   MPI_Comm comm);
[[nodiscard]] int put_same(const void* origin, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp,
                           MPI_Win win);
[[nodiscard]] int get_same(void* origin, MPI_Count count, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win);

}  // namespace weft::mpi
