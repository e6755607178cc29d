// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Making communicators (MPI-5.0, 7.4.2).

#include <strings.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/p2p.hpp"
#include "mpi/attribute.hpp"
#include "mpi/comm.hpp"
#include "mpi/context.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/functions.hpp"
#include "mpi/group.hpp"
#include "mpi/handles.hpp"
#include "mpi/info.hpp"
#include "mpi/topology.hpp"

namespace weft::mpi {
namespace {

// Made with the first communicator, kept until the process ends.
ContextNumbers& numbers() {
  static auto* const ours = new ContextNumbers(core::world.rank, core::world.size);
  return *ours;
}

// The context of the number that the members of a team agreed on.
int take_context(const char* function, const Comm& parent, uint32_t offered, uint32_t agreed, uint32_t& context) {
  numbers().settle(offered, agreed);
  if (agreed == ContextNumbers::none) {
    return fail(&parent, function, MPI_ERR_OTHER,
                "the ranks of %s have made all the communicators there are numbers for", comm_text(parent).c_str());
  }
  context = 2 * agreed;
  return MPI_SUCCESS;
}

// A request for a communicator by colour and key, as all ranks see it.
struct Wish {
  int32_t color;
  int32_t key;
  uint32_t number;  // the context number that the rank offers
};

int give(const char* function, const Comm& parent, uint32_t context, core::Group* group, MPI_Comm* newcomm) {
  Comm* comm = group == nullptr ? nullptr : new_comm(parent, context, group);
  if (comm == nullptr) return no_memory(&parent, function, "a communicator");
  *newcomm = handle_of<MPI_Comm>(comm);
  return MPI_SUCCESS;
}

// The job ranks of those who wish for our colour, by key, then by rank in the parent.
core::Group* group_of_color(const Comm& parent, const std::vector<Wish>& wishes, int32_t color) {
  std::vector<int32_t> members;
  for (int32_t r = 0; r < parent.size; ++r) {
    if (wishes[static_cast<size_t>(r)].color == color) members.push_back(r);
  }
  std::stable_sort(members.begin(), members.end(), [&](int32_t a, int32_t b) {
    return wishes[static_cast<size_t>(a)].key < wishes[static_cast<size_t>(b)].key;
  });
  for (int32_t& r : members) r = parent.job_rank(r);
  return make_group(std::move(members));
}

int split(const char* function, Comm& parent, int color, int key, MPI_Comm* newcomm) {
  const Wish ours = {color, key, numbers().offer(parent.size)};
  std::vector<Wish> wishes(static_cast<size_t>(parent.size));
  int32_t error = gather_all(everybody(parent), &ours, sizeof ours, wishes.data());
  if (error != core::no_error) return fail(&parent, function, error, "the ranks could not exchange colours and keys");
  uint32_t agreed = ContextNumbers::none;
  for (const Wish& wish : wishes) agreed = std::min(agreed, wish.number);
  uint32_t context = 0;
  error = take_context(function, parent, ours.number, agreed, context);
  if (error != MPI_SUCCESS) return error;
  *newcomm = MPI_COMM_NULL;
  if (color == MPI_UNDEFINED) return MPI_SUCCESS;
  return give(function, parent, context, group_of_color(parent, wishes, color), newcomm);
}

// With the hints of `from`, or those of `info` (nullptr: none).
int duplicate(const char* function, Comm& from, bool same_hints, const Info* info, MPI_Comm* newcomm) {
  uint32_t context = 0;
  if (int error = agree_on_context(function, everybody(from), context)) return error;
  Comm* comm = new_comm(from, context, hold(from.group));
  if (comm == nullptr) return no_memory(&from, function, "a communicator");
  share_topology(from, *comm);
  int error = MPI_SUCCESS;
  if (same_hints) {
    copy_hints(from, *comm);
  } else {
    error = take_hints(function, from, *comm, info);
  }
  if (error == MPI_SUCCESS) {
    error = copy_attributes(from, *comm);
    if (error != MPI_SUCCESS) error = fail(&from, function, error, "a copy callback of an attribute returned an error");
  }
  if (error != MPI_SUCCESS) {
    (void)delete_attributes(*comm);
    release_comm_parts(*comm);
    base::destroy_object(comm);
    *newcomm = MPI_COMM_NULL;
    return error;
  }
  *newcomm = handle_of<MPI_Comm>(comm);
  return MPI_SUCCESS;
}

// The colour of a rank's part of the machine or of a process set, as named by the info object; MPI_UNDEFINED when what
// it names is not known here.
int color_of_resource(const Comm& comm, int split_type, const Info* info) {
  if (info == nullptr) return MPI_UNDEFINED;
  const std::optional<std::string> resource = info->find("mpi_hw_resource_type");
  if (resource) return *resource == "mpi_shared_memory" ? 0 : MPI_UNDEFINED;
  if (split_type != MPI_COMM_TYPE_RESOURCE_GUIDED) return MPI_UNDEFINED;
  const std::optional<std::string> pset = info->find("mpi_pset_name");
  if (!pset) return MPI_UNDEFINED;
  if (strcasecmp(pset->c_str(), "mpi://WORLD") == 0) return 0;
  return strcasecmp(pset->c_str(), "mpi://SELF") == 0 ? comm.rank : MPI_UNDEFINED;
}

// The ranks in `comm` of a group's members; fails when there is one who is not in it.
int ranks_in(const char* function, const Comm& comm, const core::Group& group, std::vector<int32_t>& ranks) {
  RankFinder finder(*comm.group);
  for (int32_t r = 0; r < group.size; ++r) {
    int32_t found = finder.rank_of(group.job_rank(r));
    if (found < 0) {
      return fail(&comm, function, MPI_ERR_GROUP, "member %d of the group is not in %s", r, comm_text(comm).c_str());
    }
    ranks.push_back(found);
  }
  return MPI_SUCCESS;
}

}  // namespace

int agree_on_context(const char* function, const Team& team, uint32_t& context) {
  const uint32_t offered = numbers().offer(team.size);
  uint32_t agreed = offered;
  int32_t error = agree_on_smallest(team, agreed);
  if (error != core::no_error) return fail(&team.parent, function, error, "the ranks could not agree on a context");
  return take_context(function, team.parent, offered, agreed, context);
}

Comm* new_comm(const Comm& parent, uint32_t context, core::Group* group) {
  Comm* comm = base::make_object<Comm>();
  if (comm == nullptr) {
    drop(group);
    return nullptr;
  }
  comm->errhandler = held_handler(parent.errhandler);
  comm->session = parent.session;
  describe_comm(*comm, context, group);
  return comm;
}

int comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_dup";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (newcomm == nullptr) return null_argument(c, function, "newcomm");
  return duplicate(function, *c, true, nullptr, newcomm);
}

int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_dup_with_info";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  const Info* given = info_of(info);
  if (given == nullptr && info != MPI_INFO_NULL) return bad_info(c, function, info);
  if (newcomm == nullptr) return null_argument(c, function, "newcomm");
  return duplicate(function, *c, false, given, newcomm);
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

// All ranks share memory: the job is on one host.
int comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_split_type";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  const Info* given = info_of(info);
  if (given == nullptr && info != MPI_INFO_NULL) return bad_info(c, function, info);
  if (newcomm == nullptr) return null_argument(c, function, "newcomm");
  switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
      return split(function, *c, 0, key, newcomm);
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      return split(function, *c, color_of_resource(*c, split_type, given), key, newcomm);
    case MPI_COMM_TYPE_HW_UNGUIDED:  // no smaller part of the machine is known
    case MPI_UNDEFINED:
      return split(function, *c, MPI_UNDEFINED, key, newcomm);
    default:
      return fail(c, function, MPI_ERR_ARG,
                  "%d is no type of split: give MPI_COMM_TYPE_SHARED or another "
                  "MPI_COMM_TYPE_ value, or MPI_UNDEFINED",
                  split_type);
  }
}

int comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_create";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  core::Group* g = group_of(group);
  if (g == nullptr) return bad_group(function, group);
  if (newcomm == nullptr) return null_argument(c, function, "newcomm");
  std::vector<int32_t> ranks;
  if (int error = ranks_in(function, *c, *g, ranks)) return error;
  uint32_t context = 0;
  if (int error = agree_on_context(function, everybody(*c), context)) return error;
  *newcomm = MPI_COMM_NULL;
  return g->rank < 0 ? MPI_SUCCESS : give(function, *c, context, hold(g), newcomm);
}

int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_create_group";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  core::Group* g = group_of(group);
  if (g == nullptr) return bad_group(function, group);
  if (tag < 0) return fail(c, function, MPI_ERR_TAG, "tag is %d: it must not be negative", tag);
  if (newcomm == nullptr) return null_argument(c, function, "newcomm");
  *newcomm = MPI_COMM_NULL;
  if (g->rank < 0) return MPI_SUCCESS;
  std::vector<int32_t> ranks;
  if (int error = ranks_in(function, *c, *g, ranks)) return error;
  uint32_t context = 0;
  Team team = {*c, g->size, g->rank, ranks.data(), group_creation_tag(tag)};
  if (int error = agree_on_context(function, team, context)) return error;
  return give(function, *c, context, hold(g), newcomm);
}

}  // namespace weft::mpi
