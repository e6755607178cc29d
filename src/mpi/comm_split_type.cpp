// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split_type (MPI-5.0, 7.4.2).

#include <strings.h>

#include <optional>
#include <string>

#include "mpi/functions.hpp"
#include "mpi/handles.hpp"
#include "mpi/info.hpp"
#include "mpi/split.hpp"

namespace weft::mpi {
namespace {

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

}  // namespace

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

}  // namespace weft::mpi
