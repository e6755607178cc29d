// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Virtual topologies (MPI-5.0, chapter 8): the record of a communicator with one. It never changes; duplicates of a
// communicator share it.

#include <memory>
#include <string>
#include <vector>

#include "base/count.hpp"
#include "core/object/neighbours.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

// A Cartesian grid. Ranks are in row-major order: the last coordinate changes fastest.
struct Grid {
  std::vector<int> dims;
  std::vector<int> periods;  // 0 or 1

  [[nodiscard]] int ndims() const { return static_cast<int>(dims.size()); }
  [[nodiscard]] int32_t size() const;  // ranks
  // The rank at coordinates inside the grid, and the way back.
  [[nodiscard]] int32_t rank_at(const int* coords) const;
  void coords_of(int32_t rank, int* coords) const;
  // The rank `steps` away from `rank` in a direction; MPI_PROC_NULL beyond a border.
  [[nodiscard]] int32_t shifted(int32_t rank, int direction, int64_t steps) const;
};

// A graph that all ranks know: ends[r] is the end of the neighbours of rank r in `edges`.
struct Graph {
  std::vector<int> ends;
  std::vector<int> edges;

  [[nodiscard]] int first(int32_t rank) const { return rank == 0 ? 0 : ends[static_cast<size_t>(rank) - 1]; }
  [[nodiscard]] int degree(int32_t rank) const { return ends[static_cast<size_t>(rank)] - first(rank); }
};

struct Topology {
  enum class TopologyKind : uint8_t { cartesian, graph, distributed } kind = TopologyKind::cartesian;
  core::Neighbours neighbours;
  Grid grid;                        // of TopologyKind::cartesian
  Graph graph;                      // of TopologyKind::graph
  bool weighted = false;            // of TopologyKind::distributed, as are:
  std::vector<int> source_weights;  // in the order of the sources; empty without weights
  std::vector<int> destination_weights;
  std::string reordering;  // the effect of `reorder`, in words; empty when none
  base::HolderCount references;
};

// Gives the communicator a topology, whose reference it takes.
void set_topology(Comm& comm, Topology* topology);

// The error of an inter-communicator.
[[nodiscard]] int refuse_inter(const char* function, const Comm& comm);

// Makes the communicator of the topology out of `parent`, collectively: its rank r is rank members[r] of the parent, or
// rank r when `members` is nullptr. A rank that is not among them gets MPI_COMM_NULL and gives no topology.
[[nodiscard]] int make_topology_comm(const char* function, Comm& parent, int32_t size,
                                     const std::vector<int32_t>* members, std::unique_ptr<Topology> topology,
                                     MPI_Comm* newcomm);

// The topology of a communicator, if it is of this kind; otherwise nullptr, with the error raised.
[[nodiscard]] const Topology* topology_of(const char* function, MPI_Comm comm, Topology::TopologyKind kind,
                                          const Comm*& object, int& error);

// ---- Balanced factors of a number: for MPI_Dims_create (MPI-5.0, 8.5.2)

// `count` factors of `number` (both at least 1), the largest first, as close to each other as possible: the difference
// between the largest and the smallest is the least there is. Among equal differences the larger ones win, whose ratio
// is nearer to 1; then the grid with the least surface, which is the sum of number / factor: the links that cutting the
// grid once in each dimension cuts.
[[nodiscard]] std::vector<int32_t> balanced_factors(int32_t number, int32_t count);

// ---- What the argument `reorder` of MPI_Cart_create does

struct Reordering {
  std::vector<int32_t> members;  // by rank of the grid, the rank of the old communicator; empty: as it was
  int32_t rank = -1;             // of the calling process in the grid, with `members`
  std::string text;              // the gain, for people
};

// Collective on `comm`, whose first ranks make the grid. Asks all for the part of the machine they are bound to. The
// order stays when ranks are not bound, when all share one domain, and when nothing is gained. Returns an error code,
// already raised.
[[nodiscard]] int choose_order(const char* function, Comm& comm, const Grid& grid, Reordering& order);

}  // namespace weft::mpi
