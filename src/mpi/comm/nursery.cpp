// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/nursery.hpp"

#include <cstdint>
#include <cstring>

#include "core/world.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

namespace {

// Of no communicator that was made.
constexpr uint32_t own_contexts = core::partitioned_contexts | core::creation_contexts | core::local_contexts;

}  // namespace

Comm& nursery() {
  static Comm* const made = [] {
    auto* comm = new Comm;  // never a handle, hence not in the arena; kept until the process ends
    comm->context = own_contexts;
    comm->rank = core::world->rank;
    comm->lane_seed = core::world->lane_map.seed_of(comm->context, comm->rank);
    comm->size = core::world->size;
    comm->errhandler = errhandler_of(MPI_ERRORS_ARE_FATAL);
    comm->kind = base::Kind::communicator;
    return comm;
  }();
  return *made;
}

Meeting meeting_of(const char* stringtag) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (; *stringtag != '\0'; ++stringtag) hash = (hash ^ static_cast<unsigned char>(*stringtag)) * 0x100000001b3u;
  constexpr uint32_t collective = 1;
  return {own_contexts | (static_cast<uint32_t>(hash >> 31) & ~own_contexts) | collective,
          static_cast<int32_t>(hash & INT32_MAX)};
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
