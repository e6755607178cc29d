// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Graphs that all ranks know (MPI-5.0, 8.5.3, 8.5.5 and 8.5.8). The order of ranks is kept: `reorder` allows another
// one, and does not demand it.
#include <algorithm>

#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/topo/topology.hpp"

namespace weft::mpi {
namespace {

// Checks the arguments that describe a graph.
int check_graph(const char* function, const Comm& comm, int nnodes, const int* ends, const int* edges) {
  if (nnodes < 0) return negative(&comm, function, MPI_ERR_ARG, "nnodes", nnodes);
  if (nnodes > comm.size) {
    return fail(&comm, function, MPI_ERR_ARG, "the graph has %d nodes and %s has %d ranks", nnodes,
                comm_text(comm).c_str(), comm.size);
  }
  if (nnodes == 0) return MPI_SUCCESS;
  if (no_address(ends)) return null_argument(&comm, function, "index");
  for (int node = 0; node < nnodes; ++node) {
    const int before = node == 0 ? 0 : ends[node - 1];
    if (ends[node] < before) {
      return fail(&comm, function, MPI_ERR_ARG, "index[%d] is %d, below %d: it counts the edges of nodes 0 to %d", node,
                  ends[node], before, node);
    }
  }
  const int count = ends[nnodes - 1];
  if (count > 0 && no_address(edges)) return null_argument(&comm, function, "edges");
  for (int i = 0; i < count; ++i) {
    if (edges[i] < 0 || edges[i] >= nnodes) {
      return fail(&comm, function, MPI_ERR_ARG, "edges[%d] is %d: it is not a node, which are 0 to %d", i, edges[i],
                  nnodes - 1);
    }
  }
  return MPI_SUCCESS;
}

const Topology* graph_of(const char* function, MPI_Comm comm, const Comm*& object, int& error) {
  return topology_of(function, comm, Topology::TopologyKind::graph, object, error);
}

int check_rank(const char* function, const Comm* comm, int rank) {
  if (rank >= 0 && rank < comm->size) return MPI_SUCCESS;
  return no_rank(comm, function, MPI_ERR_RANK, "rank", rank, "the graph", comm->size);
}

}  // namespace

int graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int, MPI_Comm* comm_graph) {
  static const char* function = "MPI_Graph_create";
  Comm* c = comm_of(comm_old);
  if (c == nullptr) return bad_comm(function, comm_old);
  if (c->is_inter()) return refuse_inter(function, *c);
  if (int error = check_graph(function, *c, nnodes, indx, edges)) return error;
  if (no_address(comm_graph)) return null_argument(c, function, "comm_graph");
  std::unique_ptr<Topology> topology;
  if (c->rank < nnodes) {
    topology = std::make_unique<Topology>();
    topology->kind = Topology::TopologyKind::graph;
    Graph& graph = topology->graph;
    graph.ends.assign(indx, indx + nnodes);
    graph.edges.assign(edges, edges + indx[nnodes - 1]);
    const auto own = graph.edges.begin() + graph.first(c->rank);
    topology->neighbours.sources.assign(own, own + graph.degree(c->rank));
    topology->neighbours.destinations = topology->neighbours.sources;
  }
  return make_topology_comm(function, *c, nnodes, nullptr, std::move(topology), comm_graph);
}

int graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int* newrank) {
  static const char* function = "MPI_Graph_map";
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (c->is_inter()) return refuse_inter(function, *c);
  if (int error = check_graph(function, *c, nnodes, indx, edges)) return error;
  if (no_address(newrank)) return null_argument(c, function, "newrank");
  *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  static const char* function = "MPI_Graphdims_get";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = graph_of(function, comm, c, error);
  if (topology == nullptr) return error;
  if (no_address(nnodes)) return null_argument(c, function, "nnodes");
  if (no_address(nedges)) return null_argument(c, function, "nedges");
  *nnodes = static_cast<int>(topology->graph.ends.size());
  *nedges = static_cast<int>(topology->graph.edges.size());
  return MPI_SUCCESS;
}

int graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
  static const char* function = "MPI_Graph_get";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = graph_of(function, comm, c, error);
  if (topology == nullptr) return error;
  const Graph& graph = topology->graph;
  if (maxindex < 0 || static_cast<size_t>(maxindex) < graph.ends.size()) {
    return fail(c, function, MPI_ERR_ARG, "maxindex is %d: the graph has %zu nodes", maxindex, graph.ends.size());
  }
  if (maxedges < 0 || static_cast<size_t>(maxedges) < graph.edges.size()) {
    return fail(c, function, MPI_ERR_ARG, "maxedges is %d: the graph has %zu edges", maxedges, graph.edges.size());
  }
  if (no_address(indx)) return null_argument(c, function, "index");
  if (no_address(edges) && !graph.edges.empty()) return null_argument(c, function, "edges");
  std::copy(graph.ends.begin(), graph.ends.end(), indx);
  std::copy(graph.edges.begin(), graph.edges.end(), edges);
  return MPI_SUCCESS;
}

int graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  static const char* function = "MPI_Graph_neighbors_count";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = graph_of(function, comm, c, error);
  if (topology == nullptr) return error;
  if (int bad = check_rank(function, c, rank)) return bad;
  if (no_address(nneighbors)) return null_argument(c, function, "nneighbors");
  *nneighbors = topology->graph.degree(rank);
  return MPI_SUCCESS;
}

int graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  static const char* function = "MPI_Graph_neighbors";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = graph_of(function, comm, c, error);
  if (topology == nullptr) return error;
  if (int bad = check_rank(function, c, rank)) return bad;
  const Graph& graph = topology->graph;
  const int degree = graph.degree(rank);
  if (maxneighbors < degree) {
    return fail(c, function, MPI_ERR_ARG, "maxneighbors is %d: rank %d has %d neighbors", maxneighbors, rank, degree);
  }
  if (degree > 0 && no_address(neighbors)) return null_argument(c, function, "neighbors");
  std::copy_n(graph.edges.begin() + graph.first(rank), degree, neighbors);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
