// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Distributed graphs (MPI-5.0, 8.5.4 and 8.5.5): each rank knows its own edges only. The order of ranks is kept:
// `reorder` allows another one, and does not demand it. No hints are known, so the info argument is checked and
// ignored.
#include <algorithm>
#include <span>
#include <tuple>

#include "coll/agree/route.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/topo/topology.hpp"

namespace weft::mpi {
namespace {

// One end of an edge on its way to the rank it belongs to.
struct EdgeEnd {
  int32_t target;    // whose neighbour it is
  int32_t neighbor;  // the other end
  int32_t weight;
  int32_t outgoing;  // 1: the edge leaves the target
  int64_t number;    // of the edge, among those that
  int32_t giver;     // this rank gave
  int32_t unused;
};

// By neighbour; edges between the same two ranks in an order that both of them find.
bool before(const EdgeEnd& a, const EdgeEnd& b) {
  return std::tie(a.neighbor, a.giver, a.number) < std::tie(b.neighbor, b.giver, b.number);
}

int check_info(const char* function, const Comm* comm, MPI_Info info) {
  if (info == MPI_INFO_NULL || info_of(info) != nullptr) return MPI_SUCCESS;
  return bad_info(comm, function, info);
}

int check_ranks(const char* function, const Comm* comm, const char* name, std::span<const int> ranks) {
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] >= 0 && ranks[i] < comm->size) continue;
    return fail(comm, function, MPI_ERR_RANK, "%s[%zu] is %d: it is not a rank of %s, which are 0 to %d", name, i,
                ranks[i], comm_text(*comm).c_str(), comm->size - 1);
  }
  return MPI_SUCCESS;
}

// `weights` are there, or MPI_UNWEIGHTED.
int check_weights(const char* function, const Comm* comm, const char* name, const int* weights, size_t count) {
  if (weights == MPI_UNWEIGHTED || count == 0) return MPI_SUCCESS;
  if (no_address(weights)) return null_argument(comm, function, name);
  if (weights == MPI_WEIGHTS_EMPTY) {
    return fail(comm, function, MPI_ERR_ARG, "%s is MPI_WEIGHTS_EMPTY, and there are %zu edges", name, count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (weights[i] >= 0) continue;
    return fail(comm, function, MPI_ERR_ARG, "%s[%zu] is %d: weights are not negative", name, i, weights[i]);
  }
  return MPI_SUCCESS;
}

// One list of neighbours as the program gives it.
int check_list(const char* function, const Comm* comm, const char* name, int count, const int* ranks,
               const char* weights_name, const int* weights) {
  if (count < 0) return fail(comm, function, MPI_ERR_ARG, "the number of %s is %d, below 0", name, count);
  if (count > 0 && no_address(ranks)) return null_argument(comm, function, name);
  const auto size = static_cast<size_t>(count);
  if (int error = check_ranks(function, comm, name, {ranks, size})) return error;
  return check_weights(function, comm, weights_name, weights, size);
}

// The edges that this rank gives: how many, if nothing is wrong with them.
int check_edges(const char* function, const Comm* comm, int n, const int* sources, const int* degrees,
                const int* destinations, const int* weights, size_t& count) {
  if (n < 0) return negative(comm, function, MPI_ERR_ARG, "n", n);
  if (n > 0 && no_address(sources)) return null_argument(comm, function, "sources");
  if (n > 0 && no_address(degrees)) return null_argument(comm, function, "degrees");
  if (int error = check_ranks(function, comm, "sources", {sources, static_cast<size_t>(n)})) return error;
  count = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) {
      return fail(comm, function, MPI_ERR_ARG, "degrees[%d] is %d: it must not be negative", i, degrees[i]);
    }
    count += static_cast<size_t>(degrees[i]);
  }
  if (count > 0 && no_address(destinations)) return null_argument(comm, function, "destinations");
  if (int error = check_ranks(function, comm, "destinations", {destinations, count})) return error;
  return check_weights(function, comm, "weights", weights, count);
}

std::unique_ptr<Topology> new_graph(bool weighted) {
  auto topology = std::make_unique<Topology>();
  topology->kind = Topology::TopologyKind::distributed;
  topology->weighted = weighted;
  return topology;
}

void take_list(std::vector<int32_t>& ranks, std::vector<int>& kept_weights, int count, const int* given,
               const int* weights) {
  if (count == 0) return;
  ranks.assign(given, given + count);
  if (weights != MPI_UNWEIGHTED) kept_weights.assign(weights, weights + count);
}

const Topology* dist_graph_of(const char* function, MPI_Comm comm, const Comm*& object, int& error) {
  return topology_of(function, comm, Topology::TopologyKind::distributed, object, error);
}

// Gives the first elements of a list, as many as fit into the program's array (MPI-5.0, 8.5.5).
int give_list(const char* function, const Comm* comm, const char* max_name, int room, const char* name,
              const std::vector<int32_t>& ranks, int* out, const std::vector<int>& weights, int* out_weights) {
  if (room < 0) return negative(comm, function, MPI_ERR_ARG, max_name, room);
  const size_t count = std::min(ranks.size(), static_cast<size_t>(room));
  if (count == 0) return MPI_SUCCESS;
  if (no_address(out)) return null_argument(comm, function, name);
  std::copy_n(ranks.begin(), count, out);
  if (weights.empty() || out_weights == MPI_UNWEIGHTED) return MPI_SUCCESS;
  if (no_address(out_weights)) return null_argument(comm, function, "the array of weights");
  if (out_weights == MPI_WEIGHTS_EMPTY) {
    return fail(comm, function, MPI_ERR_ARG, "the array of weights is MPI_WEIGHTS_EMPTY, and there are %zu %s", count,
                name);
  }
  std::copy_n(weights.begin(), count, out_weights);
  return MPI_SUCCESS;
}

}  // namespace

int dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                               int outdegree, const int destinations[], const int destweights[], MPI_Info info, int,
                               MPI_Comm* comm_dist_graph) {
  static const char* function = "MPI_Dist_graph_create_adjacent";
  Comm* c = comm_of(comm_old);
  if (c == nullptr) return bad_comm(function, comm_old);
  if (c->is_inter()) return refuse_inter(function, *c);
  if (int error = check_list(function, c, "sources", indegree, sources, "sourceweights", sourceweights)) return error;
  if (int error = check_list(function, c, "destinations", outdegree, destinations, "destweights", destweights)) {
    return error;
  }
  if ((sourceweights == MPI_UNWEIGHTED) != (destweights == MPI_UNWEIGHTED)) {
    return fail(c, function, MPI_ERR_ARG, "one of sourceweights and destweights is MPI_UNWEIGHTED: give it for both");
  }
  if (int error = check_info(function, c, info)) return error;
  if (no_address(comm_dist_graph)) return null_argument(c, function, "comm_dist_graph");
  std::unique_ptr<Topology> topology = new_graph(sourceweights != MPI_UNWEIGHTED);
  core::Neighbours& neighbours = topology->neighbours;
  take_list(neighbours.sources, topology->source_weights, indegree, sources, sourceweights);
  take_list(neighbours.destinations, topology->destination_weights, outdegree, destinations, destweights);
  return make_topology_comm(function, *c, c->size, nullptr, std::move(topology), comm_dist_graph);
}

// Both ends of an edge travel to the ranks they belong to. Then each rank sorts its own.
int dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                      const int weights[], MPI_Info info, int, MPI_Comm* comm_dist_graph) {
  static const char* function = "MPI_Dist_graph_create";
  Comm* c = comm_of(comm_old);
  if (c == nullptr) return bad_comm(function, comm_old);
  if (c->is_inter()) return refuse_inter(function, *c);
  size_t count = 0;
  if (int error = check_edges(function, c, n, sources, degrees, destinations, weights, count)) return error;
  if (int error = check_info(function, c, info)) return error;
  if (no_address(comm_dist_graph)) return null_argument(c, function, "comm_dist_graph");
  const bool weighted = weights != MPI_UNWEIGHTED;
  std::vector<EdgeEnd> ends;
  ends.reserve(2 * count);
  size_t edge = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < degrees[i]; ++k, ++edge) {
      const int weight = weighted ? weights[edge] : 0;
      const auto number = static_cast<int64_t>(edge);
      ends.push_back({sources[i], destinations[edge], weight, 1, number, c->rank, 0});
      ends.push_back({destinations[edge], sources[i], weight, 0, number, c->rank, 0});
    }
  }
  int32_t error = coll::route(coll::founders_of(*c), ends);
  if (error != core::no_error) return fail(c, function, error, "the ranks could not exchange the graph's edges");
  std::sort(ends.begin(), ends.end(), before);
  std::unique_ptr<Topology> topology = new_graph(weighted);
  for (const EdgeEnd& end : ends) {
    const bool out = end.outgoing != 0;
    (out ? topology->neighbours.destinations : topology->neighbours.sources).push_back(end.neighbor);
    if (weighted) (out ? topology->destination_weights : topology->source_weights).push_back(end.weight);
  }
  return make_topology_comm(function, *c, c->size, nullptr, std::move(topology), comm_dist_graph);
}

int dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  static const char* function = "MPI_Dist_graph_neighbors_count";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = dist_graph_of(function, comm, c, error);
  if (topology == nullptr) return error;
  if (no_address(indegree)) return null_argument(c, function, "indegree");
  if (no_address(outdegree)) return null_argument(c, function, "outdegree");
  if (no_address(weighted)) return null_argument(c, function, "weighted");
  *indegree = static_cast<int>(topology->neighbours.sources.size());
  *outdegree = static_cast<int>(topology->neighbours.destinations.size());
  *weighted = topology->weighted ? 1 : 0;
  return MPI_SUCCESS;
}

int dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                         int destinations[], int destweights[]) {
  static const char* function = "MPI_Dist_graph_neighbors";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = dist_graph_of(function, comm, c, error);
  if (topology == nullptr) return error;
  const core::Neighbours& neighbours = topology->neighbours;
  error = give_list(function, c, "maxindegree", maxindegree, "sources", neighbours.sources, sources,
                    topology->source_weights, sourceweights);
  if (error != MPI_SUCCESS) return error;
  return give_list(function, c, "maxoutdegree", maxoutdegree, "destinations", neighbours.destinations, destinations,
                   topology->destination_weights, destweights);
}

}  // namespace weft::mpi
