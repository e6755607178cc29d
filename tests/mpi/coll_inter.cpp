// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Collective operations on intercommunicators, in their three forms, with roots in both groups; groups of equal and of
// different sizes.
#include <cstdint>
#include <vector>

#include "coll_call.hpp"
#include "expect.hpp"

using coll_call::call;
using coll_call::form;

namespace {

using Values = std::vector<int64_t>;

MPI_Comm inter;
int side;          // 0 or 1
int mine, theirs;  // sizes of the groups
int me;            // in our own group

// The data that rank `r` of a side has for `to`.
int64_t value(int of_side, int r, int to, int i) {
  return 1000000 * (of_side + 1) + 10000 * r + 100 * to + i;
}

void compare(const char* name, const Values& is, const Values& wanted) {
  EXPECT(is == wanted, "%s, form %d, side %d of %d and %d", name, static_cast<int>(form), side, mine, theirs);
}

// The root argument of this rank when the root is rank `r` of side `of_side`.
int root_argument(int of_side, int r) {
  if (of_side != side) return r;
  return me == r ? MPI_ROOT : MPI_PROC_NULL;
}

void bcast(int of_side, int root, int count) {
  Values data(static_cast<size_t>(count) + 1, -1);
  Values wanted = data;
  const bool is_root = side == of_side && me == root;
  for (int i = 0; i < count; ++i) {
    if (is_root) data[static_cast<size_t>(i)] = value(side, me, 0, i);
    if (is_root || side != of_side) wanted[static_cast<size_t>(i)] = value(of_side, root, 0, i);
  }
  call("bcast", inter, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, data.data(), count, MPI_INT64_T,
       root_argument(of_side, root));
  compare("bcast", data, wanted);
}

// Counts of the v forms: rank r gives, or gets, r + 1 elements, with a gap behind each block.
struct Layout {
  std::vector<int> counts, places;
  int total = 0;
  explicit Layout(int ranks) {
    for (int r = 0; r < ranks; ++r) {
      counts.push_back(r + 1);
      places.push_back(total);
      total += r + 2;
    }
  }
};

void gather_and_scatter(int of_side, int root) {
  const int argument = root_argument(of_side, root);
  const bool is_root = argument == MPI_ROOT;
  const bool opposite = side != of_side;
  constexpr int count = 3;
  Values small(count);
  Values large(static_cast<size_t>(count * theirs), -1);
  Values wanted = large;
  for (int i = 0; i < count; ++i) {
    small[static_cast<size_t>(i)] = value(side, me, 0, i);
    for (int r = 0; is_root && r < theirs; ++r) wanted[static_cast<size_t>(r * count + i)] = value(1 - side, r, 0, i);
  }
  call("gather", inter, MPI_Gather, MPI_Igather, MPI_Gather_init, small.data(), count, MPI_INT64_T, large.data(), count,
       MPI_INT64_T, argument);
  compare("gather", large, wanted);

  for (int r = 0; r < theirs; ++r) {
    for (int i = 0; i < count; ++i) large[static_cast<size_t>(r * count + i)] = value(side, me, r, i);
  }
  small.assign(count, -1);
  wanted = small;
  for (int i = 0; opposite && i < count; ++i) wanted[static_cast<size_t>(i)] = value(of_side, root, me, i);
  call("scatter", inter, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, large.data(), count, MPI_INT64_T, small.data(),
       count, MPI_INT64_T, argument);
  compare("scatter", small, wanted);

  const Layout layout(theirs);
  Values block(static_cast<size_t>(me + 1));
  Values blocks(static_cast<size_t>(layout.total), -1);
  wanted = blocks;
  for (int i = 0; i <= me; ++i) block[static_cast<size_t>(i)] = value(side, me, 0, i);
  for (int r = 0; is_root && r < theirs; ++r) {
    for (int i = 0; i <= r; ++i) {
      wanted[static_cast<size_t>(layout.places[static_cast<size_t>(r)] + i)] = value(1 - side, r, 0, i);
    }
  }
  call("gatherv", inter, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, block.data(), me + 1, MPI_INT64_T, blocks.data(),
       layout.counts.data(), layout.places.data(), MPI_INT64_T, argument);
  compare("gatherv", blocks, wanted);

  for (int r = 0; r < theirs; ++r) {
    for (int i = 0; i <= r; ++i) {
      blocks[static_cast<size_t>(layout.places[static_cast<size_t>(r)] + i)] = value(side, me, r, i);
    }
  }
  block.assign(block.size(), -1);
  wanted = block;
  for (int i = 0; opposite && i <= me; ++i) wanted[static_cast<size_t>(i)] = value(of_side, root, me, i);
  call("scatterv", inter, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, blocks.data(), layout.counts.data(),
       layout.places.data(), MPI_INT64_T, block.data(), me + 1, MPI_INT64_T, argument);
  compare("scatterv", block, wanted);
}

void all_to_all() {
  constexpr int count = 2;
  Values small(count);
  Values large(static_cast<size_t>(count * theirs), -1);
  Values wanted = large;
  Values out(large.size());
  for (int i = 0; i < count; ++i) {
    small[static_cast<size_t>(i)] = value(side, me, 0, i);
    for (int r = 0; r < theirs; ++r) {
      const auto at = static_cast<size_t>(r * count + i);
      wanted[at] = value(1 - side, r, 0, i);
      out[at] = value(side, me, r, i);
    }
  }
  call("allgather", inter, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, small.data(), count, MPI_INT64_T,
       large.data(), count, MPI_INT64_T);
  compare("allgather", large, wanted);

  large.assign(large.size(), -1);
  for (int r = 0; r < theirs; ++r) {
    for (int i = 0; i < count; ++i) wanted[static_cast<size_t>(r * count + i)] = value(1 - side, r, me, i);
  }
  call("alltoall", inter, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, out.data(), count, MPI_INT64_T, large.data(),
       count, MPI_INT64_T);
  compare("alltoall", large, wanted);

  const Layout from_all(theirs);
  Values block(static_cast<size_t>(me + 1));
  Values blocks(static_cast<size_t>(from_all.total), -1);
  wanted = blocks;
  for (int i = 0; i <= me; ++i) block[static_cast<size_t>(i)] = value(side, me, 0, i);
  for (int r = 0; r < theirs; ++r) {
    for (int i = 0; i <= r; ++i) {
      wanted[static_cast<size_t>(from_all.places[static_cast<size_t>(r)] + i)] = value(1 - side, r, 0, i);
    }
  }
  call("allgatherv", inter, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, block.data(), me + 1, MPI_INT64_T,
       blocks.data(), from_all.counts.data(), from_all.places.data(), MPI_INT64_T);
  compare("allgatherv", blocks, wanted);

  // Rank r sends r + 1 elements to everybody.
  const std::vector<int> out_counts(static_cast<size_t>(theirs), me + 1);
  std::vector<int> out_places, out_bytes, in_bytes;
  Values to_all;
  for (int r = 0; r < theirs; ++r) {
    out_places.push_back(static_cast<int>(to_all.size()));
    out_bytes.push_back(8 * static_cast<int>(to_all.size()));
    in_bytes.push_back(8 * from_all.places[static_cast<size_t>(r)]);
    for (int i = 0; i <= me; ++i) to_all.push_back(value(side, me, r, i));
    for (int i = 0; i <= r; ++i) {
      wanted[static_cast<size_t>(from_all.places[static_cast<size_t>(r)] + i)] = value(1 - side, r, me, i);
    }
  }
  blocks.assign(blocks.size(), -1);
  call("alltoallv", inter, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, to_all.data(), out_counts.data(),
       out_places.data(), MPI_INT64_T, blocks.data(), from_all.counts.data(), from_all.places.data(), MPI_INT64_T);
  compare("alltoallv", blocks, wanted);
  blocks.assign(blocks.size(), -1);
  const std::vector<MPI_Datatype> types(static_cast<size_t>(theirs), MPI_INT64_T);
  call("alltoallw", inter, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, to_all.data(), out_counts.data(),
       out_bytes.data(), types.data(), blocks.data(), from_all.counts.data(), in_bytes.data(), types.data());
  compare("alltoallw", blocks, wanted);
}

int64_t sum(int of_side, int ranks, int i) {
  int64_t total = 0;
  for (int r = 0; r < ranks; ++r) total += value(of_side, r, 0, i);
  return total;
}

// Keeps its left operand: of a reduction in the order of ranks, rank 0's data.
void leftmost(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) static_cast<int64_t*>(inout)[i] = static_cast<int64_t*>(in)[i];
}

void reductions(int count) {
  MPI_Op first;
  MPI_Op_create(leftmost, 0, &first);
  Values out(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) out[static_cast<size_t>(i)] = value(side, me, 0, i);
  for (MPI_Op op : {MPI_SUM, first}) {
    auto result = [&](int i) { return op == MPI_SUM ? sum(1 - side, theirs, i) : value(1 - side, 0, 0, i); };
    Values in(out.size() + 1, -1);
    Values wanted = in;
    for (int i = 0; i < count; ++i) wanted[static_cast<size_t>(i)] = result(i);
    call("allreduce", inter, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, out.data(), in.data(), count,
         MPI_INT64_T, op);
    compare("allreduce", in, wanted);

    for (int of_side : {0, 1}) {
      for (int root : {0, (of_side == side ? mine : theirs) - 1}) {
        in.assign(in.size(), -1);
        const int argument = root_argument(of_side, root);
        call("reduce", inter, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, out.data(), in.data(), count, MPI_INT64_T, op,
             argument);
        compare("reduce", in, argument == MPI_ROOT ? wanted : Values(in.size(), -1));
      }
    }
  }
  MPI_Op_free(&first);

  // Both groups divide mine * theirs elements among themselves.
  out.resize(static_cast<size_t>(mine * theirs));
  for (int i = 0; i < mine * theirs; ++i) out[static_cast<size_t>(i)] = value(side, me, 0, i);
  Values in(static_cast<size_t>(theirs), -1);
  Values wanted = in;
  for (int i = 0; i < theirs; ++i) wanted[static_cast<size_t>(i)] = sum(1 - side, theirs, me * theirs + i);
  call("reduce_scatter_block", inter, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
       MPI_Reduce_scatter_block_init, out.data(), in.data(), theirs, MPI_INT64_T, MPI_SUM);
  compare("reduce_scatter_block", in, wanted);
  in.assign(in.size(), -1);
  const std::vector<int> counts(static_cast<size_t>(mine), theirs);
  call("reduce_scatter", inter, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, out.data(), in.data(),
       counts.data(), MPI_INT64_T, MPI_SUM);
  compare("reduce_scatter", in, wanted);
}

// Nobody leaves before the last rank of the other group has come.
void barrier_waits_for_the_other_group() {
  for (int late = 0; late < expect::size; ++late) {
    const double begin = MPI_Wtime();
    if (expect::rank == late) {
      while (MPI_Wtime() - begin < 0.02) continue;
    }
    double came = MPI_Wtime();
    MPI_Barrier(inter);
    const double left = MPI_Wtime();
    MPI_Bcast(&came, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
    EXPECT(left >= came, "left %g s before rank %d came", came - left, late);
  }
}

void errors() {
  int64_t a[8] = {}, b[8];
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Scan(a, b, 1, MPI_INT64_T, MPI_SUM, inter), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Exscan(a, b, 1, MPI_INT64_T, MPI_SUM, inter), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Bcast(a, 1, MPI_INT64_T, theirs, inter), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Bcast(a, 1, MPI_INT64_T, -77, inter), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT64_T, MPI_SUM, inter), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT64_T, b, 1, MPI_INT64_T, inter), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Bcast(a, 1, MPI_INT64_T, MPI_ROOT, MPI_COMM_WORLD), MPI_ERR_ROOT);
}

// The first `first` ranks of the world on one side, the others on the other side.
void with_groups(int first) {
  MPI_Comm local;
  side = expect::rank < first ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side == 0 ? first : 0, 9, &inter);
  MPI_Comm_free(&local);
  MPI_Comm_rank(inter, &me);
  MPI_Comm_size(inter, &mine);
  MPI_Comm_remote_size(inter, &theirs);
  for (coll_call::Form f : {coll_call::blocking, coll_call::nonblocking, coll_call::persistent}) {
    form = f;
    call("barrier", inter, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init);
    for (int of_side : {0, 1}) {
      const int ranks = of_side == side ? mine : theirs;
      for (int root = 0; root < ranks; ++root) {
        for (int count : {0, 1, 5, 20000}) bcast(of_side, root, count);
        gather_and_scatter(of_side, root);
      }
    }
    all_to_all();
    for (int count : {1, 7, 5000}) reductions(count);
  }
  barrier_waits_for_the_other_group();
  errors();
  MPI_Comm_free(&inter);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int first = 1; first<expect::size; first += expect::size> 4 ? 2 : 1) with_groups(first);
  return expect::finish();
}
