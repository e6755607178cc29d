// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives in their three forms on grids, graphs and distributed graphs: borders, dimensions of one
// and two ranks, loops, several edges between two ranks, no neighbours at all.
#include <cstdint>
#include <random>
#include <vector>

#include "coll_call.hpp"
#include "expect.hpp"

using coll_call::call;
using coll_call::form;
using expect::rank;
using expect::size;

namespace {

using Values = std::vector<int64_t>;
using Ranks = std::vector<int>;

// A topology as the test knows it.
struct Topology {
  const char* name;
  MPI_Comm comm;
  Ranks sources;       // MPI_PROC_NULL beyond a border
  Ranks destinations;  // likewise
  Ranks sent_as;       // which block of sources[i] comes to us as block i
};

// The data that rank `r` sends in its block `k`.
int64_t value(int r, int k, int i) {
  return 100000 * (r + 1) + 1000 * k + i;
}

// Elements that rank r sends to each neighbour in the v forms, of a block k.
int elements(int r, int k) {
  return 1 + (r + k) % 3;
}

// Blocks one after the other with a gap behind each.
struct Layout {
  std::vector<int> counts, places;
  std::vector<MPI_Aint> bytes;
  int total = 1;

  void add(int count) {
    counts.push_back(count);
    places.push_back(total);
    bytes.push_back(8 * MPI_Aint{total});
    total += count + 1;
  }
  int64_t& at(Values& values, size_t block, int i) const { return values[static_cast<size_t>(places[block] + i)]; }
};

void expect_equal(const Topology& t, const char* what, const Values& is, const Values& wanted) {
  EXPECT(is == wanted, "%s on a %s of %d ranks, form %d", what, t.name, size, static_cast<int>(form));
}

void same_to_all(const Topology& t) {
  constexpr int count = 3;
  Values mine(count);
  for (int i = 0; i < count; ++i) mine[static_cast<size_t>(i)] = value(rank, 0, i);
  Values in(t.sources.size() * count + 1, -1);
  Values wanted = in;
  for (size_t s = 0; s < t.sources.size(); ++s) {
    for (int i = 0; i < count && t.sources[s] != MPI_PROC_NULL; ++i) {
      wanted[s * count + static_cast<size_t>(i)] = value(t.sources[s], 0, i);
    }
  }
  call("allgather", t.comm, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, mine.data(),
       count, MPI_INT64_T, in.data(), count, MPI_INT64_T);
  expect_equal(t, "allgather", in, wanted);

  Layout layout;
  for (int s : t.sources) layout.add(s == MPI_PROC_NULL ? 2 : elements(s, 0));
  mine.resize(static_cast<size_t>(elements(rank, 0)));
  in.assign(static_cast<size_t>(layout.total), -1);
  wanted = in;
  for (size_t s = 0; s < t.sources.size(); ++s) {
    for (int i = 0; i < layout.counts[s] && t.sources[s] != MPI_PROC_NULL; ++i) {
      layout.at(wanted, s, i) = value(t.sources[s], 0, i);
    }
  }
  call("allgatherv", t.comm, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init,
       mine.data(), static_cast<int>(mine.size()), MPI_INT64_T, in.data(), layout.counts.data(), layout.places.data(),
       MPI_INT64_T);
  expect_equal(t, "allgatherv", in, wanted);
}

void one_to_each(const Topology& t, int count) {
  const auto n = static_cast<size_t>(count);
  Values out(t.destinations.size() * n + 1);
  Values in(t.sources.size() * n + 1, -1);
  Values wanted = in;
  for (size_t k = 0; k < t.destinations.size(); ++k) {
    for (int i = 0; i < count; ++i) out[k * n + static_cast<size_t>(i)] = value(rank, static_cast<int>(k), i);
  }
  for (size_t s = 0; s < t.sources.size(); ++s) {
    for (int i = 0; i < count && t.sources[s] != MPI_PROC_NULL; ++i) {
      wanted[s * n + static_cast<size_t>(i)] = value(t.sources[s], t.sent_as[s], i);
    }
  }
  call("alltoall", t.comm, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, out.data(), count,
       MPI_INT64_T, in.data(), count, MPI_INT64_T);
  expect_equal(t, "alltoall", in, wanted);
}

void some_to_each(const Topology& t) {
  Layout to, from;
  for (size_t k = 0; k < t.destinations.size(); ++k) to.add(elements(rank, static_cast<int>(k)));
  for (size_t s = 0; s < t.sources.size(); ++s) {
    from.add(t.sources[s] == MPI_PROC_NULL ? 1 : elements(t.sources[s], t.sent_as[s]));
  }
  Values out(static_cast<size_t>(to.total), -2);
  Values in(static_cast<size_t>(from.total), -1);
  Values wanted = in;
  for (size_t k = 0; k < t.destinations.size(); ++k) {
    for (int i = 0; i < to.counts[k]; ++i) to.at(out, k, i) = value(rank, static_cast<int>(k), i);
  }
  for (size_t s = 0; s < t.sources.size(); ++s) {
    for (int i = 0; i < from.counts[s] && t.sources[s] != MPI_PROC_NULL; ++i) {
      from.at(wanted, s, i) = value(t.sources[s], t.sent_as[s], i);
    }
  }
  call("alltoallv", t.comm, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, out.data(),
       to.counts.data(), to.places.data(), MPI_INT64_T, in.data(), from.counts.data(), from.places.data(), MPI_INT64_T);
  expect_equal(t, "alltoallv", in, wanted);

  in.assign(in.size(), -1);
  const std::vector<MPI_Datatype> out_types(t.destinations.size() + 1, MPI_INT64_T);
  const std::vector<MPI_Datatype> in_types(t.sources.size() + 1, MPI_INT64_T);
  call("alltoallw", t.comm, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, out.data(),
       to.counts.data(), to.bytes.data(), out_types.data(), in.data(), from.counts.data(), from.bytes.data(),
       in_types.data());
  expect_equal(t, "alltoallw", in, wanted);

  // With MPI_BOTTOM displacements are addresses.
  in.assign(in.size(), -1);
  MPI_Aint out_address = 0;
  MPI_Aint in_address = 0;
  MPI_Get_address(out.data(), &out_address);
  MPI_Get_address(in.data(), &in_address);
  for (MPI_Aint& b : to.bytes) b += out_address;
  for (MPI_Aint& b : from.bytes) b += in_address;
  call("alltoallw", t.comm, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init,
       static_cast<const void*>(MPI_BOTTOM), to.counts.data(), to.bytes.data(), out_types.data(),
       static_cast<void*>(MPI_BOTTOM), from.counts.data(), from.bytes.data(), in_types.data());
  expect_equal(t, "alltoallw from the bottom", in, wanted);
}

void all_operations(Topology t) {
  for (coll_call::Form f : {coll_call::blocking, coll_call::nonblocking, coll_call::persistent}) {
    form = f;
    same_to_all(t);
    for (int count : {1, 4, 3000}) one_to_each(t, count);
    some_to_each(t);
  }
  MPI_Comm_free(&t.comm);
}

void grid(const Ranks& dims, const Ranks& periods) {
  int ranks = 1;
  for (int d : dims) ranks *= d;
  Topology t{"grid", MPI_COMM_NULL, {}, {}, {}};
  const auto ndims = static_cast<int>(dims.size());
  if (ranks > size || ranks == 0) return;
  MPI_Cart_create(MPI_COMM_WORLD, ndims, dims.data(), periods.data(), 0, &t.comm);
  if (t.comm == MPI_COMM_NULL) return;
  for (int d = 0; d < ndims; ++d) {
    int below = 0;
    int above = 0;
    MPI_Cart_shift(t.comm, d, 1, &below, &above);
    for (int r : {below, above}) t.sources.push_back(r);
    t.sent_as.push_back(2 * d + 1);  // our lower neighbour sends it upwards
    t.sent_as.push_back(2 * d);
  }
  t.destinations = t.sources;
  all_operations(t);
}

// The k-th edge from one rank to another is the k-th in the lists of both.
void pair_edges(Topology& t, const std::vector<Ranks>& destinations_of) {
  std::vector<int> seen(static_cast<size_t>(size), 0);
  for (int s : t.sources) {
    const Ranks& theirs = destinations_of[static_cast<size_t>(s)];
    int nth = seen[static_cast<size_t>(s)]++;
    size_t k = 0;
    while (theirs[k] != rank || nth-- > 0) ++k;
    t.sent_as.push_back(static_cast<int>(k));
  }
}

// A ring: with two ranks there are two edges between them, one alone has two loops.
void ring() {
  Topology t{"graph", MPI_COMM_NULL, {}, {}, {}};
  std::vector<Ranks> neighbours(static_cast<size_t>(size));
  Ranks ends, edges;
  for (int r = 0; r < size; ++r) {
    neighbours[static_cast<size_t>(r)] = {(r + 1) % size, (r + size - 1) % size};
    for (int n : neighbours[static_cast<size_t>(r)]) edges.push_back(n);
    ends.push_back(static_cast<int>(edges.size()));
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, ends.data(), edges.data(), 0, &t.comm);
  t.sources = t.destinations = neighbours[static_cast<size_t>(rank)];
  pair_edges(t, neighbours);
  all_operations(t);
}

void random_graph(unsigned seed, int number) {
  Topology t{"distributed graph", MPI_COMM_NULL, {}, {}, {}};
  std::mt19937 random(seed);
  std::vector<Ranks> destinations_of(static_cast<size_t>(size));
  for (int e = 0; e < number; ++e) {
    const int from = static_cast<int>(random() % static_cast<unsigned>(size));
    const int to = static_cast<int>(random() % static_cast<unsigned>(size));
    destinations_of[static_cast<size_t>(from)].push_back(to);
    if (to == rank) t.sources.push_back(from);
  }
  t.destinations = destinations_of[static_cast<size_t>(rank)];
  pair_edges(t, destinations_of);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(t.sources.size()), t.sources.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(t.destinations.size()), t.destinations.data(), MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &t.comm);
  all_operations(t);
}

void errors() {
  int64_t a[4] = {}, b[16];
  MPI_Request request;
  EXPECT_CLASS(MPI_Neighbor_allgather(a, 1, MPI_INT64_T, b, 1, MPI_INT64_T, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
  EXPECT_CLASS(MPI_Ineighbor_alltoall(a, 1, MPI_INT64_T, b, 1, MPI_INT64_T, MPI_COMM_WORLD, &request),
               MPI_ERR_TOPOLOGY);
  EXPECT_CLASS(MPI_Neighbor_allgather(a, 1, MPI_INT64_T, b, 1, MPI_INT64_T, MPI_COMM_NULL), MPI_ERR_COMM);
  MPI_Comm line;
  const int periods = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &line);
  MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT64_T, b, 1, MPI_INT64_T, line), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Neighbor_alltoall(a, -1, MPI_INT64_T, b, 1, MPI_INT64_T, line), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Neighbor_alltoall(a, 1, MPI_DATATYPE_NULL, b, 1, MPI_INT64_T, line), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Neighbor_allgatherv(a, 1, MPI_INT64_T, b, nullptr, nullptr, MPI_INT64_T, line), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Ineighbor_allgather(a, 1, MPI_INT64_T, b, 1, MPI_INT64_T, line, nullptr), MPI_ERR_ARG);
  MPI_Comm_free(&line);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int periodic : {0, 1}) {
    grid({size}, {periodic});
    grid({1, size}, {1, periodic});
    grid({2, size / 2}, {periodic, 1});
    grid({2, 2, 2}, {1, periodic, 1});
    grid({1, 1, 1}, {periodic, 1, 0});
  }
  ring();
  for (unsigned seed = 1; seed <= 8; ++seed) random_graph(seed, static_cast<int>(seed - 1) * size);
  errors();
  return expect::finish();
}
