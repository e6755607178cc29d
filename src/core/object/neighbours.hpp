// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The neighbours of the calling rank in the virtual topology of a communicator: all that neighbourhood collectives
// (MPI-5.0, 8.6) need to know of it. core::Comm::neighbours leads here, nullptr where there is no topology. It does not
// change while the communicator lives, so any thread may read it.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::core {

// Ranks of the communicator, in the order of the blocks in the user's buffers. A rank may appear several times, and may
// be the calling one; proc_null stands for the neighbour beyond a border, has a block too, and nothing is sent or
// received for it.
//   Cartesian    per dimension the neighbour in negative, then in positive direction; both lists are the same
//   graph        as MPI_Graph_neighbors tells; both lists are the same
//   distributed  as MPI_Dist_graph_neighbors tells
struct Neighbours {
  std::vector<int32_t> sources;
  std::vector<int32_t> destinations;
  bool cartesian = false;

  // Which of the sources the receive posted as number k is for, when sends are started in the order of `destinations`
  // and messages between two ranks keep their order. Two neighbours may be the same rank, at periodic dimensions of one
  // or two ranks: a message sent in negative direction is received from the positive one (MPI-5.0, 8.6, advice to
  // implementors), so the two receives of a dimension change places. In graphs the k-th edge from one rank to another
  // is the k-th in the lists of both.
  [[nodiscard]] size_t receive_at(size_t k) const { return cartesian ? k ^ 1 : k; }
};

}  // namespace weft::core
