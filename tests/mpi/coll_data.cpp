// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data, against what each rank can compute by itself: all roots, several sizes, types with gaps,
// in place, different counts per rank.
#include <cstring>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

constexpr int untouched = -77;

// Element i of what rank `from` has for rank `to`.
int value(int from, int to, int i) {
  return from * 1000003 + to * 10007 + i * 7 + 1;
}

// An int with a gap of the same size behind it, except behind the last of the three in an element.
struct Layout {
  MPI_Datatype type = MPI_INT;
  int per_element = 1;  // ints of data
  int stride = 1;       // ints from one int of data to the next
  int extent = 1;       // ints from one element to the next

  int at(int i) const { return i / per_element * extent + i % per_element * stride; }
  int span(int ints) const { return ints / per_element * extent; }
};

Layout dense() {
  return {};
}

Layout gaps() {
  Layout layout{MPI_DATATYPE_NULL, 3, 2, 7};
  MPI_Datatype vector;
  MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 7 * sizeof(int), &layout.type);
  MPI_Type_commit(&layout.type);
  MPI_Type_free(&vector);
  return layout;
}

// A buffer of blocks, one after the other, in a layout.
struct Buffer {
  Layout layout;
  int ints;  // of data in a block
  std::vector<int> memory;

  Buffer(const Layout& l, int blocks, int ints_per_block)
      : layout(l), ints(ints_per_block), memory(static_cast<size_t>(blocks * l.span(ints_per_block) + 1), untouched) {}
  int& at(int block, int i) { return memory[static_cast<size_t>(block * layout.span(ints) + layout.at(i))]; }
  int count() const { return ints / layout.per_element; }
  int* block(int b) { return memory.data() + b * layout.span(ints); }
  int gaps_touched(int blocks) {
    std::vector<int> copy = memory;
    for (int b = 0; b < blocks; ++b) {
      for (int i = 0; i < ints; ++i) copy[static_cast<size_t>(b * layout.span(ints) + layout.at(i))] = untouched;
    }
    int touched = 0;
    for (int v : copy) touched += v != untouched;
    return touched;
  }
};

// Values of from/to/first.. in a block.
void fill(Buffer& buffer, int block, int from, int to) {
  for (int i = 0; i < buffer.ints; ++i) buffer.at(block, i) = value(from, to, i);
}

int wrong(Buffer& buffer, int block, int from, int to) {
  int count = 0;
  for (int i = 0; i < buffer.ints; ++i) count += buffer.at(block, i) != value(from, to, i);
  return count;
}

#define EXPECT_BLOCK(buffer, block, from, to)                                                               \
  EXPECT(wrong(buffer, block, from, to) == 0, "%d of %d wrong in block %d", wrong(buffer, block, from, to), \
         (buffer).ints, block)
#define EXPECT_GAPS(buffer, blocks) EXPECT((buffer).gaps_touched(blocks) == 0, "bytes between the data were written")

void bcast(const Layout& layout, int ints, int root) {
  Buffer buffer(layout, 1, ints);
  if (rank == root) fill(buffer, 0, root, 5);
  MPI_Bcast(buffer.block(0), buffer.count(), layout.type, root, MPI_COMM_WORLD);
  EXPECT_BLOCK(buffer, 0, root, 5);
  EXPECT_GAPS(buffer, 1);
}

// The sender's layout may differ from the receiver's: same ints.
void gather(const Layout& from, const Layout& to, int ints, int root, bool in_place) {
  Buffer mine(from, 1, ints), all(to, size, ints);
  fill(mine, 0, rank, root);
  if (rank == root && in_place) fill(all, rank, rank, root);
  const void* send = rank == root && in_place ? MPI_IN_PLACE : mine.block(0);
  MPI_Gather(send, mine.count(), from.type, all.block(0), all.count(), to.type, root, MPI_COMM_WORLD);
  for (int r = 0; r < size && rank == root; ++r) EXPECT_BLOCK(all, r, r, root);
  EXPECT_GAPS(all, rank == root ? size : 0);
}

void scatter(const Layout& from, const Layout& to, int ints, int root, bool in_place) {
  Buffer all(from, size, ints), mine(to, 1, ints);
  for (int r = 0; r < size && rank == root; ++r) fill(all, r, root, r);
  void* receive = rank == root && in_place ? MPI_IN_PLACE : mine.block(0);
  MPI_Scatter(all.block(0), all.count(), from.type, receive, mine.count(), to.type, root, MPI_COMM_WORLD);
  if (receive == MPI_IN_PLACE) {
    EXPECT_BLOCK(all, rank, root, rank);
  } else {
    EXPECT_BLOCK(mine, 0, root, rank);
    EXPECT_GAPS(mine, 1);
  }
}

void allgather(const Layout& from, const Layout& to, int ints, bool in_place) {
  Buffer mine(from, 1, ints), all(to, size, ints);
  fill(mine, 0, rank, 3);
  if (in_place) fill(all, rank, rank, 3);
  MPI_Allgather(in_place ? MPI_IN_PLACE : mine.block(0), mine.count(), from.type, all.block(0), all.count(), to.type,
                MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) EXPECT_BLOCK(all, r, r, 3);
  EXPECT_GAPS(all, size);
}

void alltoall(const Layout& from, const Layout& to, int ints, bool in_place) {
  Buffer out(from, size, ints), in(to, size, ints);
  for (int r = 0; r < size; ++r) fill(in_place ? in : out, r, rank, r);
  MPI_Alltoall(in_place ? MPI_IN_PLACE : out.block(0), out.count(), from.type, in.block(0), in.count(), to.type,
               MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) EXPECT_BLOCK(in, r, r, rank);
  EXPECT_GAPS(in, size);
}

// Rank r has r + 1 ints for everybody, in reverse order of ranks with one int between the blocks.
struct Varying {
  std::vector<int> counts, displacements, memory;

  explicit Varying(bool by_rank) {
    int end = 0;
    counts.resize(static_cast<size_t>(size));
    displacements.resize(static_cast<size_t>(size));
    for (int r = size - 1; r >= 0; --r) {
      counts[static_cast<size_t>(r)] = (by_rank ? r : rank) % 3 == 2 ? 0 : (by_rank ? r : rank) + 1;
      displacements[static_cast<size_t>(r)] = end;
      end += counts[static_cast<size_t>(r)] + 1;
    }
    memory.assign(static_cast<size_t>(end), untouched);
  }
  int count(int r) const { return counts[static_cast<size_t>(r)]; }
  int* block(int r) { return memory.data() + displacements[static_cast<size_t>(r)]; }
  void fill(int r, int from, int to) {
    for (int i = 0; i < count(r); ++i) block(r)[i] = value(from, to, i);
  }
  int wrong(int r, int from, int to) {
    int bad = block(r)[count(r)] != untouched;
    for (int i = 0; i < count(r); ++i) bad += block(r)[i] != value(from, to, i);
    return bad;
  }
};

void gatherv_scatterv(int root) {
  Varying mine(false), all(true);
  mine.fill(0, rank, root);
  MPI_Gatherv(mine.block(0), mine.count(0), MPI_INT, all.memory.data(), rank == root ? all.counts.data() : nullptr,
              rank == root ? all.displacements.data() : nullptr, MPI_INT, root, MPI_COMM_WORLD);
  for (int r = 0; r < size && rank == root; ++r) EXPECT(all.wrong(r, r, root) == 0, "gatherv from %d to %d", r, root);
  Varying back(false), out(true);
  for (int r = 0; r < size; ++r) out.fill(r, root, r);
  MPI_Scatterv(out.memory.data(), rank == root ? out.counts.data() : nullptr,
               rank == root ? out.displacements.data() : nullptr, MPI_INT, back.block(0), back.count(0), MPI_INT, root,
               MPI_COMM_WORLD);
  EXPECT(back.wrong(0, root, rank) == 0, "scatterv from %d", root);
}

void allgatherv() {
  for (bool in_place : {false, true}) {
    Varying mine(false), all(true);
    mine.fill(0, rank, 9);
    if (in_place) all.fill(rank, rank, 9);
    MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine.block(0), mine.count(0), MPI_INT, all.memory.data(),
                   all.counts.data(), all.displacements.data(), MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) EXPECT(all.wrong(r, r, 9) == 0, "allgatherv of %d in place %d", r, in_place);
  }
}

void alltoallv() {
  Varying out(false), in(true);
  for (int r = 0; r < size; ++r) out.fill(r, rank, r);
  MPI_Alltoallv(out.memory.data(), out.counts.data(), out.displacements.data(), MPI_INT, in.memory.data(),
                in.counts.data(), in.displacements.data(), MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) EXPECT(in.wrong(r, r, rank) == 0, "alltoallv from %d", r);
}

// In place, what a pair exchanges is as much in both directions.
void alltoallv_in_place() {
  std::vector<int> counts, displacements;
  int end = 0;
  for (int r = 0; r < size; ++r) {
    counts.push_back((r + rank) % 4);
    displacements.push_back(end);
    end += counts.back();
  }
  std::vector<int> memory(static_cast<size_t>(end + 1));
  auto block = [&](int r) { return memory.data() + displacements[static_cast<size_t>(r)]; };
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < counts[static_cast<size_t>(r)]; ++i) block(r)[i] = value(rank, r, i);
  }
  MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, memory.data(), counts.data(), displacements.data(),
                MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < counts[static_cast<size_t>(r)]; ++i) {
      EXPECT(block(r)[i] == value(r, rank, i), "from %d element %d is %d", r, i, block(r)[i]);
    }
  }
}

// Even ranks are sent dense ints, odd ranks ints with gaps; all receive dense ints.
void alltoallw(const Layout& with_gaps) {
  constexpr int ints = 6;
  const Layout plain = dense();
  auto layout_for = [&](int r) { return r % 2 == 0 ? plain : with_gaps; };
  const auto n = static_cast<size_t>(size);
  std::vector<int> out(n * 14, untouched), in(n * ints, untouched);
  std::vector<int> counts(n), receive_counts(n, ints);
  std::vector<MPI_Aint> starts(n), receive_starts(n);
  std::vector<MPI_Count> wide_counts(n), wide_receive_counts(n, ints);
  std::vector<int> narrow_starts(n), narrow_receive_starts(n);
  std::vector<MPI_Datatype> types(n), receive_types(n, MPI_INT);
  for (int r = 0; r < size; ++r) {
    const auto u = static_cast<size_t>(r);
    const Layout layout = layout_for(r);
    counts[u] = ints / layout.per_element;
    wide_counts[u] = counts[u];
    types[u] = layout.type;
    starts[u] = narrow_starts[u] = static_cast<int>(u * 14 * sizeof(int));
    receive_starts[u] = narrow_receive_starts[u] = static_cast<int>(u * ints * sizeof(int));
    for (int i = 0; i < ints; ++i) out[u * 14 + static_cast<size_t>(layout.at(i))] = value(rank, r, i);
  }
  for (bool wide : {false, true}) {
    std::fill(in.begin(), in.end(), untouched);
    if (wide) {
      MPI_Alltoallw_c(out.data(), wide_counts.data(), starts.data(), types.data(), in.data(),
                      wide_receive_counts.data(), receive_starts.data(), receive_types.data(), MPI_COMM_WORLD);
    } else {
      MPI_Alltoallw(out.data(), counts.data(), narrow_starts.data(), types.data(), in.data(), receive_counts.data(),
                    narrow_receive_starts.data(), receive_types.data(), MPI_COMM_WORLD);
    }
    for (int i = 0; i < size * ints; ++i) {
      EXPECT(in[static_cast<size_t>(i)] == value(i / ints, rank, i % ints), "wide %d element %d is %d", wide, i,
             in[static_cast<size_t>(i)]);
    }
  }
}

void all_of(const Layout& from, const Layout& to, int ints) {
  for (int root = 0; root < size; ++root) {
    bcast(from, ints, root);
    for (bool in_place : {false, true}) {
      gather(from, to, ints, root, in_place);
      scatter(from, to, ints, root, in_place);
    }
  }
  for (bool in_place : {false, true}) {
    allgather(from, to, ints, in_place);
    alltoall(from, to, ints, in_place);
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  Layout plain = dense(), with_gaps = gaps();
  for (int ints : {0, 3, 3 * 171, 3 * 1365, 3 * 20000}) {
    all_of(plain, plain, ints);
    all_of(with_gaps, plain, ints);
    all_of(plain, with_gaps, ints);
  }
  for (int root = 0; root < size; ++root) gatherv_scatterv(root);
  allgatherv();
  alltoallv();
  alltoallv_in_place();
  alltoallw(with_gaps);
  MPI_Type_free(&with_gaps.type);
  return expect::finish();
}
