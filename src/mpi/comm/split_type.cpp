// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split_type (MPI-5.0, 7.4.2).

#include <strings.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/env/hw_resource.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

constexpr const char* type_key = "mpi_hw_resource_type";
constexpr const char* pset_key = "mpi_pset_name";

// The colour by the memory that ranks share: ranks of one host and of one job have the same. Numbers of jobs are valid
// on one host only; a communicator that spans jobs of two hosts has two jobs.
int64_t color_of_memory(const Comm& comm) {
  const boot::Job& job = core::identity->job;
  if (const int32_t far = comm.several_jobs ? core::far_rank_of(comm) : core::no_far_rank; far != core::no_far_rank)
    return core::far_part(far).senior ? 0 : 1;
  return job.one_host() ? job.number : job.host();
}

int64_t color_of_instance(int64_t instance) {
  return instance < 0 ? MPI_UNDEFINED : instance;
}

// The colour of a rank's part of the machine or of a process set, as named by the info object; MPI_UNDEFINED when what
// it names is not known here, or the rank is in no single one.
int64_t color_of_resource(const Comm& comm, int split_type, const Info* info) {
  if (info == nullptr) return MPI_UNDEFINED;
  if (const std::optional<std::string> resource = info->find(type_key)) {
    if (*resource == "mpi_shared_memory") return color_of_memory(comm);
    const int type = hw_resource_type(*resource);
    return type < 0 ? MPI_UNDEFINED : color_of_instance(hw_instances()[static_cast<size_t>(type)]);
  }
  if (split_type != MPI_COMM_TYPE_RESOURCE_GUIDED) return MPI_UNDEFINED;
  const std::optional<std::string> pset = info->find(pset_key);
  if (!pset) return MPI_UNDEFINED;
  if (strcasecmp(pset->c_str(), "mpi://WORLD") == 0) return 0;
  return strcasecmp(pset->c_str(), "mpi://SELF") == 0 ? core::identity->rank : MPI_UNDEFINED;
}

// The largest type of resource that tells ranks apart: one that some are bound to a single instance of, but not all to
// the same. -1: there is none.
int dividing_type(const std::vector<HwInstances>& ranks) {
  for (size_t type = 0; type < hw_resource_types.size(); ++type) {
    const auto [least, most] = std::minmax_element(
        ranks.begin(), ranks.end(), [type](const HwInstances& a, const HwInstances& b) { return a[type] < b[type]; });
    if ((*most)[type] >= 0 && (*least)[type] != (*most)[type]) return static_cast<int>(type);
  }
  return -1;
}

// Ranks that give MPI_UNDEFINED take part in the first split alone.
int split_unguided(const char* function, Comm& parent, int key, Info* info, MPI_Comm* newcomm) {
  MPI_Comm some = MPI_COMM_NULL;
  *newcomm = MPI_COMM_NULL;
  if (int error = split(function, parent, 0, key, &some)) return error;
  Comm& comm = *comm_of(some);
  const HwInstances mine = hw_instances();
  std::vector<HwInstances> ranks(static_cast<size_t>(founders_of(comm).size));
  const int32_t failed = coll::gather_all(comm, &mine, sizeof mine, ranks.data());
  const int type = dividing_type(ranks);
  const int64_t color = type < 0 ? MPI_UNDEFINED : color_of_instance(mine[static_cast<size_t>(type)]);
  const int error = failed != core::no_error
                        ? fail(&parent, function, failed, "the ranks could not exchange their bindings")
                        : split(function, comm, color, key, newcomm);
  (void)comm_free(&some);
  if (error != MPI_SUCCESS) return error;
  if (*newcomm != MPI_COMM_NULL && info != nullptr && !info->predefined)
    info->set(type_key, hw_resource_types[static_cast<size_t>(type)]);
  return MPI_SUCCESS;
}

}  // namespace

int comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_split_type";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  Info* given = info_of(info);
  if (given == nullptr && info != MPI_INFO_NULL) return bad_info(c, function, info);
  if (no_address(newcomm)) return null_argument(c, function, "newcomm");
  switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
      return split(function, *c, color_of_memory(*c), key, newcomm);
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      if (given != nullptr && given->find(type_key) && given->find(pset_key))
        return fail(c, function, MPI_ERR_INFO, "the info object names both %s and %s: give one", type_key, pset_key);
      [[fallthrough]];
    case MPI_COMM_TYPE_HW_GUIDED:
      return split(function, *c, color_of_resource(*c, split_type, given), key, newcomm);
    case MPI_COMM_TYPE_HW_UNGUIDED:
      return split_unguided(function, *c, key, given, newcomm);
    case MPI_UNDEFINED:
      return split(function, *c, MPI_UNDEFINED, key, newcomm);
    default:
      return fail(c, function, MPI_ERR_ARG,
                  "%d is no type of split: give MPI_COMM_TYPE_SHARED or another "
                  "MPI_COMM_TYPE_ value, or MPI_UNDEFINED",
                  split_type);
  }
}

}  // namespace weft::mpi
