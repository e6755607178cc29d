// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Cartesian topologies: coordinates, shifts, parts, what duplicates keep, and what reordering does.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "expect.hpp"

namespace {

struct Shape {
  std::vector<int> dims, periods;
  int size() const {
    int n = 1;
    for (int d : dims) n *= d;
    return n;
  }
};

// The rank at coordinates by the standard's row-major order; -1 outside.
int rank_at(const Shape& shape, std::vector<int> coords) {
  int rank = 0;
  for (size_t d = 0; d < coords.size(); ++d) {
    const int dim = shape.dims[d];
    if (shape.periods[d] != 0) coords[d] = (coords[d] % dim + dim) % dim;
    if (coords[d] < 0 || coords[d] >= dim) return MPI_PROC_NULL;
    rank = rank * dim + coords[d];
  }
  return rank;
}

// All that a communicator says of a grid.
void check(MPI_Comm comm, const Shape& shape) {
  int rank, size, status, ndims = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Topo_test(comm, &status);
  EXPECT(status == MPI_CART, "topology %d", status);
  EXPECT(size == shape.size(), "%d ranks, not %d", size, shape.size());
  MPI_Cartdim_get(comm, &ndims);
  EXPECT(ndims == static_cast<int>(shape.dims.size()), "%d dimensions", ndims);
  const auto n = static_cast<size_t>(ndims);
  std::vector<int> dims(n + 1, -7), periods(n + 1, -7), coords(n + 1, -7), mine(n + 1, -7);
  MPI_Cart_get(comm, ndims, dims.data(), periods.data(), mine.data());
  EXPECT(dims[n] == -7 && periods[n] == -7 && mine[n] == -7, "written beyond the end");
  for (size_t d = 0; d < n; ++d) {
    EXPECT(dims[d] == shape.dims[d] && (periods[d] != 0) == (shape.periods[d] != 0), "dimension %zu", d);
  }
  for (int r = 0; r < size; ++r) {
    MPI_Cart_coords(comm, r, ndims, coords.data());
    std::vector<int> at(coords.begin(), coords.begin() + ndims);
    int back = -1;
    MPI_Cart_rank(comm, at.data(), &back);
    EXPECT(back == r && rank_at(shape, at) == r, "rank %d became %d", r, back);
    if (r == rank) EXPECT(std::equal(at.begin(), at.end(), mine.begin()), "coordinates of rank %d", r);
    for (size_t d = 0; d < n; ++d) {
      if (shape.periods[d] == 0) continue;
      for (int turns : {-2, -1, 1, 3}) {
        std::vector<int> far = at;
        far[d] += turns * shape.dims[d];
        MPI_Cart_rank(comm, far.data(), &back);
        EXPECT(back == r, "%d turns away rank %d became %d", turns, r, back);
      }
    }
  }
  mine.resize(n);
  for (int d = 0; d < ndims; ++d) {
    for (int step : {-3, -1, 0, 1, 2, 1000000007}) {
      std::vector<int> before = mine, after = mine;
      const int wrapped = shape.periods[static_cast<size_t>(d)] != 0 ? step % shape.dims[static_cast<size_t>(d)] : step;
      before[static_cast<size_t>(d)] -= wrapped;
      after[static_cast<size_t>(d)] += wrapped;
      int source = -9, dest = -9;
      MPI_Cart_shift(comm, d, step, &source, &dest);
      EXPECT(source == rank_at(shape, before) && dest == rank_at(shape, after), "shift by %d in %d: %d, %d", step, d,
             source, dest);
    }
  }
}

// Numbers pass between neighbours as the shifts say.
void exchange(MPI_Comm comm) {
  int ndims, rank;
  MPI_Cartdim_get(comm, &ndims);
  MPI_Comm_rank(comm, &rank);
  for (int d = 0; d < ndims; ++d) {
    int source, dest, in = -1;
    MPI_Cart_shift(comm, d, 1, &source, &dest);
    MPI_Sendrecv(&rank, 1, MPI_INT, dest, d, &in, 1, MPI_INT, source, d, comm, MPI_STATUS_IGNORE);
    EXPECT(in == (source == MPI_PROC_NULL ? -1 : source), "got %d from %d", in, source);
  }
}

void shapes() {
  std::vector<Shape> all = {{{}, {}},
                            {{1}, {0}},
                            {{1}, {1}},
                            {{expect::size}, {0}},
                            {{expect::size}, {1}},
                            {{1, 1, 1}, {1, 0, 1}},
                            {{expect::size, 1}, {0, 1}}};
  if (expect::size >= 4) all.insert(all.end(), {{{2, 2}, {0, 1}}, {{2, 1, 2}, {1, 1, 0}}});
  if (expect::size >= 6) all.push_back({{3, 2}, {1, 0}});
  if (expect::size >= 8) all.push_back({{2, 2, 2}, {1, 1, 1}});
  for (const Shape& shape : all) {
    for (int reorder : {0, 1}) {
      MPI_Comm comm = nullptr;
      MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(shape.dims.size()), shape.dims.data(), shape.periods.data(),
                      reorder, &comm);
      if (reorder == 0) EXPECT((comm != MPI_COMM_NULL) == (expect::rank < shape.size()), "who is in the grid");
      if (comm == MPI_COMM_NULL) continue;
      check(comm, shape);
      exchange(comm);
      MPI_Comm dup, other, split;
      MPI_Comm_dup(comm, &dup);
      check(dup, shape);
      MPI_Comm_free(&comm);  // the duplicate lives on
      check(dup, shape);
      MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &other);
      check(other, shape);
      MPI_Comm_split(dup, 0, 0, &split);
      int status = 0;
      MPI_Topo_test(split, &status);
      EXPECT(status == MPI_UNDEFINED, "a split keeps topology %d", status);
      MPI_Comm_free(&split);
      MPI_Comm_free(&other);
      MPI_Comm_free(&dup);
    }
  }
}

void parts() {
  if (expect::size < 4) return;
  const int dims[] = {2, expect::size / 2}, periods[] = {1, 0};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  if (grid == MPI_COMM_NULL) return;
  int rank, coords[2];
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, coords);
  for (int keep = 0; keep < 4; ++keep) {
    const int remain[] = {keep & 1, keep & 2};
    MPI_Comm part;
    MPI_Cart_sub(grid, remain, &part);
    Shape shape;
    for (int d = 0; d < 2; ++d) {
      if (remain[d] == 0) continue;
      shape.dims.push_back(dims[d]);
      shape.periods.push_back(periods[d]);
    }
    check(part, shape);
    exchange(part);
    // All members have the dropped coordinates in common.
    int seen[2] = {coords[0], coords[1]};
    MPI_Bcast(seen, 2, MPI_INT, 0, part);
    for (int d = 0; d < 2; ++d) {
      if (remain[d] == 0) EXPECT(seen[d] == coords[d], "coordinate %d is %d, not %d", d, seen[d], coords[d]);
    }
    MPI_Comm of_part;
    const int none[] = {0, 0};
    MPI_Cart_sub(part, none, &of_part);
    check(of_part, {{}, {}});
    MPI_Comm_free(&of_part);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&grid);
}

void maps() {
  int place = -1;
  const int dims[] = {1, (expect::size + 1) / 2}, periods[] = {0, 1};
  MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place);
  EXPECT(place == (expect::rank < dims[1] ? expect::rank : MPI_UNDEFINED), "place %d", place);
  MPI_Cart_map(MPI_COMM_WORLD, 0, nullptr, nullptr, &place);
  EXPECT(place == (expect::rank == 0 ? 0 : MPI_UNDEFINED), "place %d", place);
}

// With WEFT_REORDER=4 the halves of eight ranks are far from each other: each should get a square of a 2x4 grid.
void reordering() {
  const char* setting = getenv("WEFT_REORDER");
  const int near_ranks = setting != nullptr ? atoi(setting) : -1;
  if (expect::size < 8 || near_ranks < 0) return;
  const int dims[] = {2, 4}, periods[] = {0, 0};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  if (grid == MPI_COMM_NULL) return;
  check(grid, {{2, 4}, {0, 0}});
  exchange(grid);
  int rank, crossing = 0;
  MPI_Comm_rank(grid, &rank);
  for (int d = 0; d < 2; ++d) {
    int source, dest, theirs = -1;
    MPI_Cart_shift(grid, d, 1, &source, &dest);
    const int mine = expect::rank;
    MPI_Sendrecv(&mine, 1, MPI_INT, source, d, &theirs, 1, MPI_INT, dest, d, grid, MPI_STATUS_IGNORE);
    if (dest != MPI_PROC_NULL && mine / 4 != theirs / 4) ++crossing;
  }
  int all = 0;
  MPI_Allreduce(&crossing, &all, 1, MPI_INT, MPI_SUM, grid);
  char text[200] = "";
  int length = sizeof text, flag = 0;
  MPI_Info info;
  MPI_Comm_get_info(grid, &info);
  MPI_Info_get_string(info, "weft_reorder", &length, text, &flag);
  MPI_Info_free(&info);
  if (near_ranks == 0) {
    EXPECT(rank == expect::rank && flag == 0, "reordered though it is off: %s", text);
    EXPECT(all == 4, "%d links", all);
  } else {
    EXPECT(all == 2, "%d links between the halves", all);
    EXPECT(flag != 0 && strstr(text, "4 -> 2") != nullptr, "the info says \"%s\"", text);
  }
  MPI_Comm_free(&grid);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  shapes();
  parts();
  maps();
  reordering();
  return expect::finish();
}
