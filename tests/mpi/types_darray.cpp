// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The share of every process in an array that is dealt out over a grid: all distributions in all dimensions, both
// orders, sizes that divide and that do not, against an owner worked out for every element.
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

struct Dimension {
  int size;
  int distribution;
  int argument;
  int processes;

  int block() const {
    if (distribution == MPI_DISTRIBUTE_NONE) return size;
    if (argument != MPI_DISTRIBUTE_DFLT_DARG) return argument;
    return distribution == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  }
  int owner(int index) const { return index / block() % processes; }
};

// The rank that owns the element at a place in memory.
int owner(const std::vector<Dimension>& dims, int order, int place) {
  std::vector<int> coordinate(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t dim = order == MPI_ORDER_FORTRAN ? i : dims.size() - 1 - i;
    coordinate[dim] = dims[dim].owner(place % dims[dim].size);
    place /= dims[dim].size;
  }
  int rank = 0;
  for (size_t dim = 0; dim < dims.size(); ++dim) rank = rank * dims[dim].processes + coordinate[dim];
  return rank;
}

template <class Value>
std::vector<Value> column(const std::vector<Dimension>& dims, int Dimension::*member) {
  std::vector<Value> values;
  for (const Dimension& dim : dims) values.push_back(dim.*member);
  return values;
}

void check_share(const std::vector<Dimension>& dims, int order, int rank, int ranks, int total) {
  const auto n = static_cast<int>(dims.size());
  const auto sizes = column<int>(dims, &Dimension::size), distribs = column<int>(dims, &Dimension::distribution),
             arguments = column<int>(dims, &Dimension::argument), grid = column<int>(dims, &Dimension::processes);
  const auto large = column<MPI_Count>(dims, &Dimension::size);
  std::string what = "order " + std::to_string(order) + ", rank " + std::to_string(rank);
  for (const Dimension& dim : dims) {
    what += ", " + std::to_string(dim.size) + " by " + std::to_string(dim.distribution) + " (" +
            std::to_string(dim.argument) + ") over " + std::to_string(dim.processes);
  }
  std::vector<int> array(static_cast<size_t>(total)), wanted, packed(array.size());
  std::iota(array.begin(), array.end(), 0);
  for (int place : array) {
    if (owner(dims, order, place) == rank) wanted.push_back(place);
  }
  for (bool is_large : {false, true}) {
    MPI_Datatype type;
    if (is_large) {
      MPI_Type_create_darray_c(ranks, rank, n, large.data(), distribs.data(), arguments.data(), grid.data(), order,
                               MPI_INT, &type);
    } else {
      MPI_Type_create_darray(ranks, rank, n, sizes.data(), distribs.data(), arguments.data(), grid.data(), order,
                             MPI_INT, &type);
    }
    MPI_Type_commit(&type);
    MPI_Aint lb = -1, extent = -1;
    MPI_Type_get_extent(type, &lb, &extent);
    EXPECT(lb == 0 && extent == 4 * total, "%s: extent %ld from %ld", what.c_str(), static_cast<long>(extent),
           static_cast<long>(lb));
    int position = 0;
    packed.assign(array.size(), -1);
    MPI_Pack(array.data(), 1, type, packed.data(), 4 * total, &position, MPI_COMM_SELF);
    packed.resize(static_cast<size_t>(position) / sizeof(int));
    EXPECT(packed == wanted, "%s: %d bytes, not %zu ints, or others", what.c_str(), position, wanted.size());
    MPI_Type_free(&type);
  }
}

void check(const std::vector<Dimension>& dims) {
  int ranks = 1, total = 1;
  for (const Dimension& dim : dims) {
    ranks *= dim.processes;
    total *= dim.size;
  }
  for (int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    for (int rank = 0; rank < ranks; ++rank) check_share(dims, order, rank, ranks, total);
  }
}

// The distributions of one dimension of this size.
std::vector<Dimension> choices(int size) {
  const int by_default = MPI_DISTRIBUTE_DFLT_DARG;
  std::vector<Dimension> found = {{size, MPI_DISTRIBUTE_NONE, by_default, 1}};
  for (int processes : {1, 2, 3}) {
    found.push_back({size, MPI_DISTRIBUTE_BLOCK, by_default, processes});
    found.push_back({size, MPI_DISTRIBUTE_BLOCK, size, processes});  // all with the first process
    found.push_back({size, MPI_DISTRIBUTE_CYCLIC, by_default, processes});
    found.push_back({size, MPI_DISTRIBUTE_CYCLIC, 2, processes});
    found.push_back({size, MPI_DISTRIBUTE_CYCLIC, size + 1, processes});
  }
  return found;
}

// A share of a share: elements with gaps and a lower bound.
void derived_elements() {
  MPI_Datatype element, type;
  MPI_Type_create_resized(MPI_INT, -4, 12, &element);
  const int size = 5, distribution = MPI_DISTRIBUTE_CYCLIC, argument = 2, processes = 2;
  MPI_Type_create_darray(2, 1, 1, &size, &distribution, &argument, &processes, MPI_ORDER_C, element, &type);
  MPI_Type_commit(&type);
  int array[15], packed[5] = {}, position = 0;
  std::iota(array, array + 15, 0);
  MPI_Aint lb = -1, extent = -1;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Pack(array, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
  EXPECT(lb == 0 && extent == 60, "extent %ld from %ld", static_cast<long>(extent), static_cast<long>(lb));
  EXPECT(position == 8 && packed[0] == 6 && packed[1] == 9, "%d bytes: %d, %d", position, packed[0], packed[1]);
  MPI_Type_free(&type);
  MPI_Type_free(&element);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  for (int size : {1, 4, 7}) {
    for (const Dimension& dim : choices(size)) check({dim});
  }
  for (const Dimension& rows : choices(5)) {
    for (const Dimension& columns : choices(4)) check({rows, columns});
  }
  for (const Dimension& planes : choices(4)) {
    check({planes, {3, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2}, {5, MPI_DISTRIBUTE_BLOCK, 3, 2}});
    check({{3, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG, 1}, planes, {5, MPI_DISTRIBUTE_CYCLIC, 2, 2}});
  }
  derived_elements();
  return expect::finish();
}
