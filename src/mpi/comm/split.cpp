// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split (MPI-5.0, 7.4.2 and 7.6.2). split_type.cpp gives the colours of MPI_Comm_split_type.
#include "mpi/comm/split.hpp"

#include <algorithm>
#include <vector>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/number.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

// A request for a communicator by colour and key, as all ranks see it.
struct Wish {
  uint64_t offer;
  int64_t color;
  int64_t key;
};

// Those of one group of the parent, which are `size` from rank `first` of the team on, who wish for our colour: by key,
// then by rank in the parent. nullptr: no memory.
core::Group* group_of_color(const Team& team, const std::vector<Wish>& wishes, int32_t first, int32_t size,
                            int64_t color) {
  std::vector<int32_t> members;
  for (int32_t r = first; r < first + size; ++r) {
    if (wishes[static_cast<size_t>(r)].color == color) members.push_back(r);
  }
  std::stable_sort(members.begin(), members.end(), [&](int32_t a, int32_t b) {
    return wishes[static_cast<size_t>(a)].key < wishes[static_cast<size_t>(b)].key;
  });
  for (int32_t& r : members) r = team.job_rank(r);
  core::Group* group = make_group(std::move(members));
  if (group != nullptr && !group->predefined) group->session = static_cast<const Comm&>(team.parent).session;
  return group;
}

}  // namespace

int split(const char* function, Comm& parent, int64_t color, int32_t key, MPI_Comm* newcomm) {
  const Team team = everybody(parent);
  const Offer offer = Offer::of(team.size, team.rank);
  const Wish ours = {offer.vote, color, key};
  std::vector<Wish> wishes(static_cast<size_t>(team.size));
  const int32_t error = gather_all(team, &ours, sizeof ours, wishes.data());
  if (error != core::no_error) return fail(&parent, function, error, "the ranks could not exchange colours and keys");
  uint64_t agreed = offer.vote;
  for (const Wish& wish : wishes) agreed = std::min(agreed, wish.offer);
  if (int none = settle(function, &parent, offer, agreed)) return none;
  const uint32_t context = hold_context(team, agreed);
  *newcomm = MPI_COMM_NULL;
  if (color == MPI_UNDEFINED) {
    release_context(context);
    return MPI_SUCCESS;
  }
  const int32_t first = parent.is_inter() ? team.our_side() : 0;
  core::Group* group = group_of_color(team, wishes, first, parent.local_size(), color);
  Comm* comm = nullptr;
  if (!parent.is_inter()) {
    comm = new_comm(parent, context, group);
  } else {
    core::Group* other = group_of_color(team, wishes, team.other_side(), parent.size, color);
    if (other != nullptr && other->size == 0) {  // a communicator needs both
      drop(group);
      release_context(context);
      return MPI_SUCCESS;
    }
    comm = new_intercomm(parent, context, {group, other, parent.leads});
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
  if (newcomm == nullptr) return null_argument(c, function, "newcomm");
  return split(function, *c, color, key, newcomm);
}

}  // namespace weft::mpi
