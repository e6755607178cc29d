// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split (MPI-5.0, 7.4.2 and 7.6.2). split_type.cpp gives the colours of MPI_Comm_split_type.
#include "coll/agree/split.hpp"

#include <utility>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

core::Group* group_from(const Comm& parent, std::vector<int32_t>&& job_ranks) {
  core::Group* group = make_group(std::move(job_ranks));
  if (group != nullptr) group->session = parent.session;
  return group;
}

}  // namespace

int split(const char* function, Comm& parent, int64_t color, int32_t key, MPI_Comm* newcomm) {
  coll::Split parts;
  const int32_t error = coll::split(parent, color == MPI_UNDEFINED ? coll::no_color : color, key, parts);
  if (error != core::no_error) return agreement_failed(function, &parent, error);
  *newcomm = MPI_COMM_NULL;
  if (parts.ours.empty()) return MPI_SUCCESS;
  core::Group* group = group_from(parent, std::move(parts.ours));
  Comm* comm = nullptr;
  if (parent.is_inter()) {
    core::Group* other = group_from(parent, std::move(parts.theirs));
    comm = new_intercomm(parent, parts.context, {group, other, parent.leads});
  } else {
    comm = new_comm(parent, parts.context, group);
  }
  if (comm == nullptr) return no_memory(&parent, function, "a communicator");
  *newcomm = handle_of<MPI_Comm>(comm);
  return MPI_SUCCESS;
}

int comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_split";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (color < 0 && color != MPI_UNDEFINED) {
    return fail(c, function, MPI_ERR_ARG, "color is %d: it must be MPI_UNDEFINED or not negative", color);
  }
  if (no_address(newcomm)) return null_argument(c, function, "newcomm");
  return split(function, *c, color, key, newcomm);
}

}  // namespace weft::mpi
