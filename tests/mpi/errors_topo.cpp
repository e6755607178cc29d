// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of the functions on topologies, and of generalized requests: the class of each error.
#include <climits>

#include "expect.hpp"

namespace {

auto* const garbage = reinterpret_cast<MPI_Comm>(~uintptr_t{63});

void making_grids() {
  MPI_Comm comm = MPI_COMM_NULL;
  int one[] = {1, 1}, zero[] = {0}, negative[] = {-1}, many[] = {expect::size + 1}, overflow[] = {INT_MAX, INT_MAX},
      place = 0;
  for (MPI_Comm bad : {MPI_COMM_NULL, garbage}) {
    EXPECT_CLASS(MPI_Cart_create(bad, 1, one, one, 0, &comm), MPI_ERR_COMM);
    EXPECT_CLASS(MPI_Cart_map(bad, 1, one, one, &place), MPI_ERR_COMM);
  }
  EXPECT_CLASS(MPI_Cart_create(MPI_COMM_WORLD, -1, one, one, 0, &comm), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, zero, one, 0, &comm), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, negative, one, 0, &comm), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, many, one, 0, &comm), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 2, overflow, one, 0, &comm), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, nullptr, one, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, one, nullptr, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_create(MPI_COMM_WORLD, 1, one, one, 0, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_map(MPI_COMM_WORLD, 1, many, one, &place), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Cart_map(MPI_COMM_WORLD, 1, one, one, nullptr), MPI_ERR_ARG);
  EXPECT(comm == MPI_COMM_NULL, "a communicator was made");
}

// A topology has one group.
void on_intercomms() {
  if (expect::size < 2) return;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL, comm = MPI_COMM_NULL;
  const int side = expect::rank % 2;
  int one[] = {1}, none[] = {0}, place = 0;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Cart_create(inter, 1, one, none, 0, &comm), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Cart_map(inter, 1, one, none, &place), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Graph_create(inter, 1, none, none, 0, &comm), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Graph_map(inter, 1, none, none, &place), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Dist_graph_create(inter, 0, none, none, none, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
               MPI_ERR_COMM);
  EXPECT_CLASS(
      MPI_Dist_graph_create_adjacent(inter, 0, none, MPI_UNWEIGHTED, 0, none, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
      MPI_ERR_COMM);
  EXPECT(comm == MPI_COMM_NULL, "a communicator was made");
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

void asking_grids() {
  MPI_Comm grid, part = MPI_COMM_NULL;
  int dims[] = {1, expect::size}, periods[] = {0, 1}, out[2], coords[2] = {0, 0}, rank = -7, other;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  for (MPI_Comm none : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    EXPECT_CLASS(MPI_Cartdim_get(none, &rank), MPI_ERR_TOPOLOGY);
    EXPECT_CLASS(MPI_Cart_get(none, 2, out, out, out), MPI_ERR_TOPOLOGY);
    EXPECT_CLASS(MPI_Cart_rank(none, coords, &rank), MPI_ERR_TOPOLOGY);
    EXPECT_CLASS(MPI_Cart_coords(none, 0, 2, out), MPI_ERR_TOPOLOGY);
    EXPECT_CLASS(MPI_Cart_shift(none, 0, 1, &rank, &other), MPI_ERR_TOPOLOGY);
    EXPECT_CLASS(MPI_Cart_sub(none, coords, &part), MPI_ERR_TOPOLOGY);
  }
  EXPECT_CLASS(MPI_Cartdim_get(MPI_COMM_NULL, &rank), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Cart_rank(garbage, coords, &rank), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Topo_test(garbage, &rank), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Topo_test(grid, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cartdim_get(grid, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_get(grid, 1, out, out, out), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_get(grid, 2, nullptr, out, out), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_get(grid, 2, out, nullptr, out), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_get(grid, 2, out, out, nullptr), MPI_ERR_ARG);
  coords[0] = 1;  // beyond a border
  EXPECT_CLASS(MPI_Cart_rank(grid, coords, &rank), MPI_ERR_ARG);
  coords[0] = -1;
  EXPECT_CLASS(MPI_Cart_rank(grid, coords, &rank), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_rank(grid, nullptr, &rank), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_rank(grid, coords, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_coords(grid, -1, 2, out), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Cart_coords(grid, expect::size, 2, out), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Cart_coords(grid, 0, 1, out), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_coords(grid, 0, 2, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_shift(grid, -1, 1, &rank, &other), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_shift(grid, 2, 1, &rank, &other), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_shift(grid, 0, 1, nullptr, &other), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_shift(grid, 0, 1, &rank, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_sub(grid, nullptr, &part), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cart_sub(grid, coords, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graphdims_get(grid, out, out), MPI_ERR_TOPOLOGY);
  EXPECT_CLASS(MPI_Dist_graph_neighbors_count(grid, out, out, out), MPI_ERR_TOPOLOGY);
  EXPECT(rank == -7 && part == MPI_COMM_NULL, "results were written");
  MPI_Comm_free(&grid);
  EXPECT_CLASS(MPI_Cartdim_get(grid, &rank), MPI_ERR_COMM);
}

void dimensions() {
  int dims[] = {0, 0}, negative[] = {0, -1}, five[] = {5, 0}, large[] = {INT_MAX, INT_MAX};
  EXPECT_CLASS(MPI_Dims_create(0, 2, dims), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dims_create(-4, 2, dims), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dims_create(4, -1, dims), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Dims_create(4, 2, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dims_create(4, 2, negative), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Dims_create(4, 2, five), MPI_ERR_DIMS);
  EXPECT_CLASS(MPI_Dims_create(INT_MAX, 2, large), MPI_ERR_DIMS);
  EXPECT(dims[0] == 0 && negative[0] == 0 && five[1] == 0, "dimensions were written");
  EXPECT_CLASS(MPI_Dims_create(4, 0, nullptr), MPI_SUCCESS);
}

void graphs() {
  MPI_Comm comm = MPI_COMM_NULL;
  int ends[] = {1}, edges[] = {0}, falling[] = {-1}, far[] = {1}, value;
  EXPECT_CLASS(MPI_Graph_create(MPI_COMM_NULL, 1, ends, edges, 0, &comm), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Graph_create(MPI_COMM_WORLD, -1, ends, edges, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_create(MPI_COMM_WORLD, expect::size + 1, ends, edges, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, nullptr, edges, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, ends, nullptr, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, falling, edges, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, ends, far, 0, &comm), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_create(MPI_COMM_WORLD, 1, ends, edges, 0, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_map(MPI_COMM_WORLD, 1, ends, far, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_map(MPI_COMM_WORLD, 1, ends, edges, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graphdims_get(MPI_COMM_WORLD, &value, &value), MPI_ERR_TOPOLOGY);
  EXPECT_CLASS(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &value), MPI_ERR_TOPOLOGY);
  EXPECT(comm == MPI_COMM_NULL, "a communicator was made");
  MPI_Graph_create(MPI_COMM_SELF, 1, ends, edges, 0, &comm);
  EXPECT_CLASS(MPI_Graphdims_get(comm, nullptr, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graphdims_get(comm, &value, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_get(comm, 0, 1, ends, edges), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_get(comm, 1, 0, ends, edges), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_get(comm, 1, 1, nullptr, edges), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_get(comm, 1, 1, ends, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_neighbors_count(comm, 1, &value), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Graph_neighbors_count(comm, 0, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_neighbors(comm, -1, 1, edges), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Graph_neighbors(comm, 0, 0, edges), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graph_neighbors(comm, 0, 1, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Cartdim_get(comm, &value), MPI_ERR_TOPOLOGY);
  MPI_Comm_free(&comm);
}

void distributed_graphs() {
  MPI_Comm comm = MPI_COMM_NULL;
  auto* const bad_info = reinterpret_cast<MPI_Info>(MPI_INT);
  int zero[] = {0}, one[] = {1}, far[] = {expect::size}, negative[] = {-1}, value;
  auto general = [&](int n, const int* sources, const int* degrees, const int* destinations, const int* weights) {
    return MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, weights, MPI_INFO_NULL, 0, &comm);
  };
  EXPECT_CLASS(MPI_Dist_graph_create(garbage, 0, zero, zero, zero, zero, MPI_INFO_NULL, 0, &comm), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, zero, zero, zero, zero, bad_info, 0, &comm), MPI_ERR_INFO);
  EXPECT_CLASS(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, zero, zero, zero, zero, MPI_INFO_NULL, 0, nullptr),
               MPI_ERR_ARG);
  EXPECT_CLASS(general(-1, zero, one, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
  EXPECT_CLASS(general(1, nullptr, one, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
  EXPECT_CLASS(general(1, zero, nullptr, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
  EXPECT_CLASS(general(1, zero, one, nullptr, MPI_UNWEIGHTED), MPI_ERR_ARG);
  EXPECT_CLASS(general(1, far, one, zero, MPI_UNWEIGHTED), MPI_ERR_RANK);
  EXPECT_CLASS(general(1, zero, negative, zero, MPI_UNWEIGHTED), MPI_ERR_ARG);
  EXPECT_CLASS(general(1, zero, one, negative, MPI_UNWEIGHTED), MPI_ERR_RANK);
  EXPECT_CLASS(general(1, zero, one, zero, negative), MPI_ERR_ARG);
  EXPECT_CLASS(general(1, zero, one, zero, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(general(1, zero, one, zero, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);
  auto adjacent = [&](int in, const int* sources, const int* in_weights, int out, const int* destinations,
                      const int* out_weights) {
    return MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, in_weights, out, destinations, out_weights,
                                          MPI_INFO_NULL, 0, &comm);
  };
  EXPECT_CLASS(adjacent(-1, zero, zero, 1, zero, zero), MPI_ERR_ARG);
  EXPECT_CLASS(adjacent(1, zero, zero, -1, zero, zero), MPI_ERR_ARG);
  EXPECT_CLASS(adjacent(1, nullptr, zero, 1, zero, zero), MPI_ERR_ARG);
  EXPECT_CLASS(adjacent(1, far, zero, 1, zero, zero), MPI_ERR_RANK);
  EXPECT_CLASS(adjacent(1, zero, zero, 1, negative, zero), MPI_ERR_RANK);
  EXPECT_CLASS(adjacent(1, zero, negative, 1, zero, zero), MPI_ERR_ARG);
  EXPECT_CLASS(adjacent(1, zero, nullptr, 1, zero, zero), MPI_ERR_ARG);
  EXPECT_CLASS(adjacent(1, zero, MPI_UNWEIGHTED, 1, zero, zero), MPI_ERR_ARG);
  EXPECT(comm == MPI_COMM_NULL, "a communicator was made");
  MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, zero, zero, 1, zero, zero, MPI_INFO_NULL, 0, &comm);
  EXPECT_CLASS(MPI_Dist_graph_neighbors_count(comm, nullptr, &value, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dist_graph_neighbors_count(comm, &value, nullptr, &value), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dist_graph_neighbors_count(comm, &value, &value, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dist_graph_neighbors(comm, -1, zero, zero, 1, zero, zero), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dist_graph_neighbors(comm, 1, nullptr, zero, 1, zero, zero), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dist_graph_neighbors(comm, 1, zero, nullptr, 1, zero, zero), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Dist_graph_neighbors(comm, 1, zero, zero, 1, zero, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Graphdims_get(comm, &value, &value), MPI_ERR_TOPOLOGY);
  MPI_Comm_free(&comm);
}

int query(void*, MPI_Status*) {
  return MPI_SUCCESS;
}
int release(void*) {
  return MPI_SUCCESS;
}
int cancel(void*, int) {
  return MPI_SUCCESS;
}

void generalized_requests() {
  MPI_Request request = MPI_REQUEST_NULL, other;
  int value = 0;
  EXPECT_CLASS(MPI_Grequest_start(nullptr, release, cancel, nullptr, &request), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Grequest_start(query, nullptr, cancel, nullptr, &request), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Grequest_start(query, release, nullptr, nullptr, &request), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Grequest_start(query, release, cancel, nullptr, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Grequest_complete(reinterpret_cast<MPI_Request>(garbage)), MPI_ERR_REQUEST);
  MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &other);
  EXPECT_CLASS(MPI_Grequest_complete(other), MPI_ERR_REQUEST);
  MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
  MPI_Wait(&other, MPI_STATUS_IGNORE);
  MPI_Grequest_start(query, release, cancel, nullptr, &request);
  EXPECT_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Grequest_complete(request), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
  other = request;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_CLASS(MPI_Grequest_complete(other), MPI_ERR_REQUEST);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  making_grids();
  on_intercomms();
  asking_grids();
  dimensions();
  graphs();
  distributed_graphs();
  generalized_requests();
  return expect::finish();
}
