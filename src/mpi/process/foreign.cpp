// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/foreign.hpp"

#include "core/object/neighbours.hpp"
#include "mpi/object/errhandler.hpp"
#include "mpi/p2p/bsend.hpp"
#include "mpi/process/spawn.hpp"

namespace weft::mpi {
namespace {

void mark_op(MPI_Op handle, const ForeignCalls* calls) {
  if (Op* op = op_of(handle)) op->foreign = calls;
}

void mark_errhandler(MPI_Errhandler handle, const ForeignCalls* calls) {
  if (Errhandler* errhandler = errhandler_of(handle)) errhandler->foreign = calls;
}

Exchanges exchanges(MPI_Comm handle, bool neighbours) {
  const Comm* comm = comm_of(handle);
  if (comm == nullptr) return {0, 0};
  if (!neighbours) return {comm->size, comm->size};
  if (comm->neighbours == nullptr) return {0, 0};
  return {static_cast<int32_t>(comm->neighbours->sources.size()),
          static_cast<int32_t>(comm->neighbours->destinations.size())};
}

datatype::Runs list_runs(MPI_Datatype handle, MPI_Count count, MPI_Count position, iovec* runs, int room) {
  const Type* type = type_of(handle);
  if (type == nullptr || count < 0 || position >= count * type->size) return {0, 0};
  return datatype::list_runs(*type, count, nullptr, position, count * type->size - position, runs, room);
}

int raise(const char* function, int error, const char* text) {
  return fail(nullptr, function, error, "%s", text);
}

}  // namespace

constinit const FaceHooks face_hooks = {.arena_base = base::Arena::base_place(),
                                        .mark_op = mark_op,
                                        .mark_errhandler = mark_errhandler,
                                        .exchanges = exchanges,
                                        .attach_buffer = attach_buffer,
                                        .comm_attach_buffer = attach_buffer,
                                        .session_attach_buffer = attach_buffer,
                                        .prefer_world_for_errors = prefer_world_for_errors,
                                        .set_code_of_not_started = set_code_of_not_started,
                                        .isend = isend_made,
                                        .put = put_same,
                                        .get = get_same,
                                        .die = base::die,
                                        .surround = surround,
                                        .list_runs = list_runs,
                                        .raise = raise};

}  // namespace weft::mpi
