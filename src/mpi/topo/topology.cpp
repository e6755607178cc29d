// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Common parts of all virtual topologies (MPI-5.0, chapter 8). cartesian.cpp, graph.cpp and dist_graph.cpp have the
// rest.
#include "mpi/topo/topology.hpp"

#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

const char* kind_text(Topology::TopologyKind kind) {
  switch (kind) {
    case Topology::TopologyKind::cartesian:
      return "Cartesian";
    case Topology::TopologyKind::graph:
      return "graph";
    case Topology::TopologyKind::distributed:
      return "distributed graph";
  }
  return "";
}

// The members of the new communicator as a group; nullptr: no memory.
core::Group* group_of_members(const Comm& parent, int32_t size, const std::vector<int32_t>* members) {
  if (members == nullptr && size == parent.size) return hold(parent.group);
  std::vector<int32_t> job_ranks(static_cast<size_t>(size));
  for (int32_t r = 0; r < size; ++r) {
    job_ranks[static_cast<size_t>(r)] = parent.job_rank(members == nullptr ? r : (*members)[static_cast<size_t>(r)]);
  }
  return make_group(std::move(job_ranks));
}

}  // namespace

void set_topology(Comm& comm, Topology* topology) {
  comm.topology = topology;
  comm.neighbours = topology == nullptr ? nullptr : &topology->neighbours;
}

void share_topology(const Comm& from, Comm& to) {
  if (from.topology != nullptr) ++from.topology->references;
  set_topology(to, from.topology);
}

void drop_topology(Comm& comm) {
  if (comm.topology != nullptr && --comm.topology->references == 0) delete comm.topology;
  set_topology(comm, nullptr);
}

const char* reordering_of(const Comm& comm) {
  return comm.topology == nullptr || comm.topology->reordering.empty() ? nullptr : comm.topology->reordering.c_str();
}

int refuse_inter(const char* function, const Comm& comm) {
  return fail(&comm, function, MPI_ERR_COMM, "%s has two groups: a topology is of an intra-communicator",
              comm_text(comm).c_str());
}

int make_topology_comm(const char* function, Comm& parent, int32_t size, const std::vector<int32_t>* members,
                       std::unique_ptr<Topology> topology, MPI_Comm* newcomm) {
  uint32_t context = 0;
  if (int error = agree_on_context(function, founders_of(parent), context)) return error;
  *newcomm = MPI_COMM_NULL;
  if (topology == nullptr) {
    release_context(context);
    return MPI_SUCCESS;
  }
  Comm* comm = new_comm(parent, context, group_of_members(parent, size, members));
  if (comm == nullptr) return no_memory(&parent, function, "a communicator");
  set_topology(*comm, topology.release());
  *newcomm = handle_of<MPI_Comm>(comm);
  return MPI_SUCCESS;
}

const Topology* topology_of(const char* function, MPI_Comm comm, Topology::TopologyKind kind, const Comm*& object,
                            int& error) {
  object = comm_of(comm);
  if (object == nullptr) {
    error = bad_comm(function, comm);
    return nullptr;
  }
  const Topology* topology = object->topology;
  if (topology != nullptr && topology->kind == kind) return topology;
  error = fail(object, function, MPI_ERR_TOPOLOGY, "%s has %s%s topology, and a %s one is needed",
               comm_text(*object).c_str(), topology == nullptr ? "no" : "a ",
               topology == nullptr ? "" : kind_text(topology->kind), kind_text(kind));
  return nullptr;
}

int topo_test(MPI_Comm comm, int* status) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Topo_test", comm);
  if (no_address(status)) return null_argument(c, "MPI_Topo_test", "status");
  if (c->topology == nullptr) {
    *status = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  switch (c->topology->kind) {
    case Topology::TopologyKind::cartesian:
      *status = MPI_CART;
      break;
    case Topology::TopologyKind::graph:
      *status = MPI_GRAPH;
      break;
    case Topology::TopologyKind::distributed:
      *status = MPI_DIST_GRAPH;
      break;
  }
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
