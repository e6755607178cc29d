// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Cartesian topologies (MPI-5.0, 8.5.1, 8.5.5 to 8.5.8).
#include <algorithm>
#include <climits>
#include <new>

#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/topo/topology.hpp"

namespace weft::mpi {

int32_t Grid::size() const {
  int32_t size = 1;
  for (int dim : dims) size *= dim;
  return size;
}

int32_t Grid::rank_at(const int* coords) const {
  int32_t rank = 0;
  for (size_t d = 0; d < dims.size(); ++d) rank = rank * dims[d] + coords[d];
  return rank;
}

void Grid::coords_of(int32_t rank, int* coords) const {
  for (size_t d = dims.size(); d-- > 0;) {
    coords[d] = rank % dims[d];
    rank /= dims[d];
  }
}

int32_t Grid::shifted(int32_t rank, int direction, int64_t steps) const {
  const auto at = static_cast<size_t>(direction);
  int32_t stride = 1;  // of ranks, per step
  for (size_t d = dims.size(); d-- > at + 1;) stride *= dims[d];
  const int64_t dim = dims[at];
  const int64_t from = rank / stride % dim;
  int64_t to = from + steps;
  if (to < 0 || to >= dim) {
    if (periods[at] == 0) return MPI_PROC_NULL;
    to = (to % dim + dim) % dim;
  }
  return static_cast<int32_t>(rank + (to - from) * stride);
}

namespace {

// Reads the arguments that describe a grid.
int read_grid(const char* function, const Comm& comm, int ndims, const int* dims, const int* periods, Grid& grid) {
  if (ndims < 0) return negative(&comm, function, MPI_ERR_DIMS, "ndims", ndims);
  if (ndims > 0 && no_address(dims)) return null_argument(&comm, function, "dims");
  if (ndims > 0 && no_address(periods)) return null_argument(&comm, function, "periods");
  int64_t size = 1;
  for (int d = 0; d < ndims; ++d) {
    if (dims[d] < 1) {
      return fail(&comm, function, MPI_ERR_DIMS, "dims[%d] is %d: a dimension has at least one rank", d, dims[d]);
    }
    size *= dims[d];
    if (size > comm.size) {
      return fail(&comm, function, MPI_ERR_DIMS, "the grid has more ranks than %s, which has %d",
                  comm_text(comm).c_str(), comm.size);
    }
    grid.dims.push_back(dims[d]);
    grid.periods.push_back(periods[d] != 0 ? 1 : 0);
  }
  return MPI_SUCCESS;
}

// The topology as rank `rank` of the grid sees it.
std::unique_ptr<Topology> make_cartesian(Grid grid, int32_t rank) {
  auto topology = std::make_unique<Topology>();
  topology->kind = Topology::TopologyKind::cartesian;
  core::Neighbours& neighbours = topology->neighbours;
  neighbours.cartesian = true;
  for (int d = 0; d < grid.ndims(); ++d) {
    for (int64_t step : {-1, 1}) neighbours.sources.push_back(grid.shifted(rank, d, step));
  }
  neighbours.destinations = neighbours.sources;
  topology->grid = std::move(grid);
  return topology;
}

const Topology* cartesian_of(const char* function, MPI_Comm comm, const Comm*& object, int& error) {
  return topology_of(function, comm, Topology::TopologyKind::cartesian, object, error);
}

// Checks that an array of the program can hold a value for each dimension.
int check_room(const char* function, const Comm* comm, const Grid& grid, int maxdims) {
  if (maxdims >= grid.ndims()) return MPI_SUCCESS;
  return fail(comm, function, MPI_ERR_ARG, "maxdims is %d: the grid has %d dimensions", maxdims, grid.ndims());
}

}  // namespace

int cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* comm_cart) {
  static const char* function = "MPI_Cart_create";
  Comm* c = comm_of(comm_old);
  if (c == nullptr) return bad_comm(function, comm_old);
  if (c->is_inter()) return refuse_inter(function, *c);
  if (no_address(comm_cart)) return null_argument(c, function, "comm_cart");
  *comm_cart = MPI_COMM_NULL;
  Grid grid;
  if (int error = read_grid(function, *c, ndims, dims, periods, grid)) return error;
  const int32_t size = grid.size();
  Reordering order;
  if (reorder != 0) {
    if (int error = choose_order(function, *c, grid, order)) return error;
  }
  const std::vector<int32_t>* members = order.members.empty() ? nullptr : &order.members;
  const int32_t rank = members == nullptr ? c->rank : order.rank;
  std::unique_ptr<Topology> topology;
  if (c->rank < size) {
    topology = make_cartesian(std::move(grid), rank);
    topology->reordering = std::move(order.text);
  }
  return make_topology_comm(function, *c, size, members, std::move(topology), comm_cart);
}

// Local, so it cannot ask where the other ranks are: it keeps their order.
int cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  static const char* function = "MPI_Cart_map";
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (c->is_inter()) return refuse_inter(function, *c);
  Grid grid;
  if (int error = read_grid(function, *c, ndims, dims, periods, grid)) return error;
  if (no_address(newrank)) return null_argument(c, function, "newrank");
  *newrank = c->rank < grid.size() ? c->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int cartdim_get(MPI_Comm comm, int* ndims) {
  static const char* function = "MPI_Cartdim_get";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = cartesian_of(function, comm, c, error);
  if (topology == nullptr) return error;
  if (no_address(ndims)) return null_argument(c, function, "ndims");
  *ndims = topology->grid.ndims();
  return MPI_SUCCESS;
}

int cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  static const char* function = "MPI_Cart_get";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = cartesian_of(function, comm, c, error);
  if (topology == nullptr) return error;
  const Grid& grid = topology->grid;
  if (int short_of = check_room(function, c, grid, maxdims)) return short_of;
  if (grid.ndims() == 0) return MPI_SUCCESS;  // nothing is changed, the arrays may be null
  if (no_address(dims)) return null_argument(c, function, "dims");
  if (no_address(periods)) return null_argument(c, function, "periods");
  if (no_address(coords)) return null_argument(c, function, "coords");
  std::copy(grid.dims.begin(), grid.dims.end(), dims);
  std::copy(grid.periods.begin(), grid.periods.end(), periods);
  grid.coords_of(c->rank, coords);
  return MPI_SUCCESS;
}

int cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  static const char* function = "MPI_Cart_rank";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = cartesian_of(function, comm, c, error);
  if (topology == nullptr) return error;
  const Grid& grid = topology->grid;
  if (no_address(rank)) return null_argument(c, function, "rank");
  if (grid.ndims() > 0 && no_address(coords)) return null_argument(c, function, "coords");
  int32_t found = 0;
  for (size_t d = 0; d < grid.dims.size(); ++d) {
    const int dim = grid.dims[d];
    int at = coords[d];
    if (at < 0 || at >= dim) {
      if (grid.periods[d] == 0) {
        return fail(c, function, MPI_ERR_ARG, "coords[%zu] is %d: the dimension is not periodic and goes from 0 to %d",
                    d, at, dim - 1);
      }
      at %= dim;
      if (at < 0) at += dim;
    }
    found = found * dim + at;
  }
  *rank = found;
  return MPI_SUCCESS;
}

int cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  static const char* function = "MPI_Cart_coords";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = cartesian_of(function, comm, c, error);
  if (topology == nullptr) return error;
  const Grid& grid = topology->grid;
  if (rank < 0 || rank >= c->size) {
    return no_rank(c, function, MPI_ERR_RANK, "rank", rank, "the grid", c->size);
  }
  if (int short_of = check_room(function, c, grid, maxdims)) return short_of;
  if (grid.ndims() > 0 && no_address(coords)) return null_argument(c, function, "coords");
  grid.coords_of(rank, coords);
  return MPI_SUCCESS;
}

int cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  static const char* function = "MPI_Cart_shift";
  const Comm* c = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = cartesian_of(function, comm, c, error);
  if (topology == nullptr) return error;
  const Grid& grid = topology->grid;
  if (direction < 0 || direction >= grid.ndims()) {
    return fail(c, function, MPI_ERR_ARG, "direction is %d: the grid has %d dimensions, numbered from 0", direction,
                grid.ndims());
  }
  if (no_address(rank_source)) return null_argument(c, function, "rank_source");
  if (no_address(rank_dest)) return null_argument(c, function, "rank_dest");
  *rank_source = grid.shifted(c->rank, direction, -int64_t{disp});
  *rank_dest = grid.shifted(c->rank, direction, disp);
  return MPI_SUCCESS;
}

// The calling rank's part of the grid. All parts get one context: no rank is in two of them.
int cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  static const char* function = "MPI_Cart_sub";
  const Comm* found = nullptr;
  int error = MPI_SUCCESS;
  const Topology* topology = cartesian_of(function, comm, found, error);
  if (topology == nullptr) return error;
  const Grid& grid = topology->grid;
  if (grid.ndims() > 0 && no_address(remain_dims)) return null_argument(found, function, "remain_dims");
  if (no_address(newcomm)) return null_argument(found, function, "newcomm");
  std::vector<int> coords(grid.dims.size());
  grid.coords_of(found->rank, coords.data());
  Grid part;
  std::vector<size_t> kept;
  for (size_t d = 0; d < grid.dims.size(); ++d) {
    if (remain_dims[d] == 0) continue;
    part.dims.push_back(grid.dims[d]);
    part.periods.push_back(grid.periods[d]);
    kept.push_back(d);
  }
  std::vector<int> own(kept.size());
  for (size_t i = 0; i < kept.size(); ++i) own[i] = coords[kept[i]];
  const int32_t rank = part.rank_at(own.data());
  std::vector<int32_t> members(static_cast<size_t>(part.size()));
  for (int32_t r = 0; r < part.size(); ++r) {
    part.coords_of(r, own.data());
    for (size_t i = 0; i < kept.size(); ++i) coords[kept[i]] = own[i];
    members[static_cast<size_t>(r)] = grid.rank_at(coords.data());
  }
  const int32_t size = part.size();
  return make_topology_comm(function, *comm_of(comm), size, &members, make_cartesian(std::move(part), rank), newcomm);
}

}  // namespace weft::mpi
