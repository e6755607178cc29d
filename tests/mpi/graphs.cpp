// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Graph topologies: those all ranks know, and distributed ones with edges given by anybody.
#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "expect.hpp"

namespace {

int topology_of(MPI_Comm comm) {
  int status = -1;
  MPI_Topo_test(comm, &status);
  return status;
}

// A star: rank 0 with all others, the last one with itself twice.
void known_graph() {
  std::vector<int> ends, edges;
  for (int nodes : {expect::size, (expect::size + 1) / 2, 1, 0}) {
    ends.clear(), edges.clear();
    for (int node = 0; node < nodes; ++node) {
      if (node == 0) {
        for (int other = 1; other < nodes; ++other) edges.push_back(other);
      } else {
        edges.push_back(0);
      }
      if (node == nodes - 1) edges.insert(edges.end(), {node, node});
      ends.push_back(static_cast<int>(edges.size()));
    }
    MPI_Comm comm = nullptr, dup;
    MPI_Graph_create(MPI_COMM_WORLD, nodes, ends.data(), edges.data(), nodes % 2, &comm);
    EXPECT((comm != MPI_COMM_NULL) == (expect::rank < nodes), "who is in the graph of %d", nodes);
    int place = -1;
    MPI_Graph_map(MPI_COMM_WORLD, nodes, ends.data(), edges.data(), &place);
    EXPECT(place == (expect::rank < nodes ? expect::rank : MPI_UNDEFINED), "place %d", place);
    if (comm == MPI_COMM_NULL) continue;
    MPI_Comm_dup(comm, &dup);
    MPI_Comm_free(&comm);
    EXPECT(topology_of(dup) == MPI_GRAPH, "topology %d", topology_of(dup));
    int nnodes = -1, nedges = -1;
    MPI_Graphdims_get(dup, &nnodes, &nedges);
    EXPECT(nnodes == nodes && nedges == static_cast<int>(edges.size()), "%d nodes, %d edges", nnodes, nedges);
    std::vector<int> got_ends(ends.size()), got_edges(edges.size());
    MPI_Graph_get(dup, nnodes, nedges, got_ends.data(), got_edges.data());
    EXPECT(got_ends == ends && got_edges == edges, "another graph than was given, with %d nodes", nodes);
    for (int node = 0; node < nodes; ++node) {
      const int first = node == 0 ? 0 : ends[static_cast<size_t>(node) - 1];
      const int degree = ends[static_cast<size_t>(node)] - first;
      int count = -1;
      MPI_Graph_neighbors_count(dup, node, &count);
      EXPECT(count == degree, "%d neighbors of %d", count, node);
      std::vector<int> neighbors(static_cast<size_t>(degree) + 1, -7);
      MPI_Graph_neighbors(dup, node, degree + 1, neighbors.data());
      EXPECT(std::equal(neighbors.begin(), neighbors.end() - 1, edges.begin() + first) && neighbors.back() == -7,
             "neighbors of %d", node);
    }
    MPI_Comm_free(&dup);
  }
}

struct Lists {
  std::vector<int> sources, source_weights, destinations, destination_weights;
  int weighted = -1;
};

Lists lists_of(MPI_Comm comm) {
  int in = -1, out = -1;
  Lists lists;
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &lists.weighted);
  lists.sources.resize(static_cast<size_t>(in));
  lists.destinations.resize(static_cast<size_t>(out));
  lists.source_weights.assign(lists.sources.size(), -7);
  lists.destination_weights.assign(lists.destinations.size(), -7);
  MPI_Dist_graph_neighbors(comm, in, lists.sources.data(), lists.source_weights.data(), out, lists.destinations.data(),
                           lists.destination_weights.data());
  return lists;
}

void adjacent() {
  // A ring, and as many edges to rank 0 as the rank's number.
  const int before = (expect::rank + expect::size - 1) % expect::size, after = (expect::rank + 1) % expect::size;
  std::vector<int> sources{before}, source_weights{before}, destinations(static_cast<size_t>(expect::rank), 0),
      destination_weights(destinations.size(), 3);
  destinations.push_back(after);
  destination_weights.push_back(expect::rank);
  for (int r = 0; expect::rank == 0 && r < expect::size; ++r) {
    sources.insert(sources.end(), static_cast<size_t>(r), r);
    source_weights.insert(source_weights.end(), static_cast<size_t>(r), 3);
  }
  for (bool weighted : {false, true}) {
    MPI_Comm comm, dup;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                   weighted ? source_weights.data() : MPI_UNWEIGHTED,
                                   static_cast<int>(destinations.size()), destinations.data(),
                                   weighted ? destination_weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &comm);
    MPI_Comm_dup(comm, &dup);
    MPI_Comm_free(&comm);
    EXPECT(topology_of(dup) == MPI_DIST_GRAPH, "topology %d", topology_of(dup));
    const Lists got = lists_of(dup);
    EXPECT(got.weighted == (weighted ? 1 : 0), "weighted %d", got.weighted);
    EXPECT(got.sources == sources && got.destinations == destinations, "another order than was given");
    if (weighted) {
      EXPECT(got.source_weights == source_weights && got.destination_weights == destination_weights, "weights");
    } else {
      EXPECT(std::count(got.source_weights.begin(), got.source_weights.end(), -7) ==
                 static_cast<long>(got.source_weights.size()),
             "weights were written");
    }
    int first = -1;  // a short array gets the first ones
    MPI_Dist_graph_neighbors(dup, 1, &first, MPI_UNWEIGHTED, 0, nullptr, MPI_UNWEIGHTED);
    EXPECT(first == sources[0], "first source %d", first);
    MPI_Comm_free(&dup);
  }
}

struct Edge {
  int source, destination, weight;
  bool operator<(const Edge& o) const {
    return std::tie(source, destination, weight) < std::tie(o.source, o.destination, o.weight);
  }
};

// Edges are drawn by everybody from one seed and each given by a random rank: all know what should come out.
void random_graph(unsigned seed, int edges, bool weighted) {
  std::mt19937 random(seed);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<int> sources, degrees, destinations, weights;
  std::multimap<int, int> in, out;  // of this rank: neighbour, weight
  for (int i = 0; i < edges; ++i) {
    const Edge edge{below(expect::size), below(expect::size), below(5)};
    const int giver = below(expect::size);
    if (edge.source == expect::rank) out.emplace(edge.destination, edge.weight);
    if (edge.destination == expect::rank) in.emplace(edge.source, edge.weight);
    const bool joins = below(2) == 0;
    if (giver != expect::rank) continue;
    if (joins && !sources.empty() && sources.back() == edge.source) {
      ++degrees.back();
    } else {
      sources.push_back(edge.source);
      degrees.push_back(1);
    }
    destinations.push_back(edge.destination);
    weights.push_back(edge.weight);
  }
  MPI_Comm comm;
  MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), degrees.data(),
                        destinations.data(),
                        !weighted         ? MPI_UNWEIGHTED
                        : weights.empty() ? MPI_WEIGHTS_EMPTY
                                          : weights.data(),
                        MPI_INFO_NULL, 0, &comm);
  const Lists got = lists_of(comm);
  auto same = [&](const std::multimap<int, int>& wanted, const std::vector<int>& ranks, const std::vector<int>& heavy) {
    std::vector<std::pair<int, int>> a, b;
    for (auto [rank, weight] : wanted) a.emplace_back(rank, weighted ? weight : -7);
    for (size_t i = 0; i < ranks.size(); ++i) b.emplace_back(ranks[i], heavy[i]);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
  };
  EXPECT(got.weighted == (weighted ? 1 : 0), "weighted %d", got.weighted);
  EXPECT(same(in, got.sources, got.source_weights), "the sources of %d edges from seed %u", edges, seed);
  EXPECT(same(out, got.destinations, got.destination_weights), "the destinations of %d edges, seed %u", edges, seed);
  // The k-th edge from one rank to another is the k-th in the lists of both: data sent along it arrive with it.
  std::vector<MPI_Request> requests;
  std::vector<int> sent = got.destination_weights, received(got.sources.size(), -1);
  requests.reserve(sent.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    requests.emplace_back();
    MPI_Isend(&sent[i], 1, MPI_INT, got.destinations[i], 0, comm, &requests.back());
  }
  for (size_t i = 0; i < received.size(); ++i) {
    MPI_Recv(&received[i], 1, MPI_INT, got.sources[i], 0, comm, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  EXPECT(received == got.source_weights, "edges between the same ranks are in another order, seed %u", seed);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  known_graph();
  adjacent();
  for (unsigned seed = 1; seed <= 12; ++seed) {
    for (int edges : {0, 1, 3, 40, 2000}) random_graph(seed, edges, seed % 2 == 0);
  }
  return expect::finish();
}
