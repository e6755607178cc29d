// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/nursery.hpp"

#include <cstring>

#include "core/context.hpp"
#include "core/world.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

Comm& nursery() {
  static Comm* const made = [] {
    auto* comm = new Comm;  // never a handle, hence not in the arena; kept until the process ends
    comm->context = core::no_context;
    comm->rank = core::world->rank;
    comm->lane_seed = core::world->lane_map.seed_of(comm->context, comm->rank);
    comm->size = core::world->size;
    comm->errhandler = errhandler_of(MPI_ERRORS_ARE_FATAL);
    comm->kind = base::Kind::communicator;
    return comm;
  }();
  return *made;
}

int check_naming(const char* function, const char* stringtag, MPI_Errhandler errhandler) {
  if (stringtag == nullptr) return null_argument(nullptr, function, "stringtag");
  if (strnlen(stringtag, MPI_MAX_STRINGTAG_LEN) == MPI_MAX_STRINGTAG_LEN) {
    return fail(nullptr, function, MPI_ERR_ARG, "stringtag is longer than MPI_MAX_STRINGTAG_LEN - 1 (%d)",
                MPI_MAX_STRINGTAG_LEN - 1);
  }
  const Errhandler* handler = errhandler_of(errhandler);
  if (handler == nullptr) return bad_handle(nullptr, function, MPI_ERR_ERRHANDLER, "error handler", errhandler);
  if (handler->scope != Errhandler::Scope::any && handler->scope != Errhandler::Scope::comm) {
    return fail(nullptr, function, MPI_ERR_ERRHANDLER, "the error handler was not made by MPI_Comm_create_errhandler");
  }
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
