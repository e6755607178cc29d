// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Gatherv, scatterv and scatter of blocks from none to beyond a chunk, each rank's of another size, by changing roots
// that nothing holds back: more operations one behind the other than there are lines. And ranks that disagree about
// such an operation, or about the size of a block.
//
// coll_lines [large]: some blocks are larger than a chunk
#include <chrono>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

// The sizes are around the data that fit into a line, with their size beside them and without.
constexpr int sizes[] = {0, 1, 8, 39, 40, 41, 47, 48, 49, 64, 200, 5000};
constexpr int large_sizes[] = {0, 8, 40, 41, 100000, 300000};

std::vector<int> sizes_of_round(int round, bool large) {
  std::vector<int> counts;
  for (int r = 0; r < size; ++r) {
    const auto i = static_cast<size_t>(round * 7 + r * 5);
    counts.push_back(large ? large_sizes[i % std::size(large_sizes)] : sizes[i % std::size(sizes)]);
  }
  return counts;
}

unsigned char value(int round, int r, int i) {
  return static_cast<unsigned char>(round * 31 + r * 7 + i);
}

std::vector<unsigned char> block_of(int round, int r, int bytes) {
  std::vector<unsigned char> block;
  for (int i = 0; i < bytes; ++i) block.push_back(value(round, r, i));
  return block;
}

// The buffer of the root has blocks with gaps between them, which nothing writes.
struct All {
  std::vector<int> counts, places;
  std::vector<unsigned char> data;

  explicit All(const std::vector<int>& of) : counts(of), places(of.size()) {
    int end = 0;
    for (size_t r = 0; r < of.size(); ++r) {
      places[r] = end;
      end += of[r] + 3;
    }
    data.assign(static_cast<size_t>(end), 0xee);
  }
  void fill(int round) {
    for (size_t r = 0; r < counts.size(); ++r) {
      const std::vector<unsigned char> block = block_of(round, static_cast<int>(r), counts[r]);
      std::copy(block.begin(), block.end(), data.begin() + places[r]);
    }
  }
};

void several_sizes(int rounds, bool large) {
  for (int round = 0; round < rounds; ++round) {
    const int root = round / 70 % size;  // runs ahead of the others by more than there are lines
    All sent(sizes_of_round(round, large));
    All wanted = sent;
    wanted.fill(round);
    if (rank == root) sent = wanted;
    const int bytes = sent.counts[static_cast<size_t>(rank)];
    std::vector<unsigned char> mine(static_cast<size_t>(bytes) + 1, 0xee);
    MPI_Scatterv(sent.data.data(), sent.counts.data(), sent.places.data(), MPI_BYTE, mine.data(), bytes, MPI_BYTE, root,
                 MPI_COMM_WORLD);
    const unsigned char behind = mine.back();
    mine.pop_back();
    EXPECT(mine == block_of(round, rank, bytes) && behind == 0xee, "scatterv of %d bytes in round %d", bytes, round);
    All gathered(sent.counts);
    MPI_Gatherv(mine.data(), bytes, MPI_BYTE, gathered.data.data(), gathered.counts.data(), gathered.places.data(),
                MPI_BYTE, root, MPI_COMM_WORLD);
    EXPECT(rank != root || gathered.data == wanted.data, "gatherv in round %d", round);
  }
}

void one_size(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int root = round / 70 % size;
    const int bytes = round % 52;
    std::vector<unsigned char> all;
    for (int r = 0; r < size; ++r) {
      const std::vector<unsigned char> block = block_of(round, r, bytes);
      if (rank == root) all.insert(all.end(), block.begin(), block.end());
    }
    std::vector<unsigned char> mine(static_cast<size_t>(bytes));
    MPI_Scatter(all.data(), bytes, MPI_BYTE, mine.data(), bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    EXPECT(mine == block_of(round, rank, bytes), "scatter of %d bytes in round %d", bytes, round);
  }
}

// Ranks that write and wait for nobody are ahead of those that read by all the lines there are, and wait then.
void ahead(bool scatters) {
  constexpr int rounds = 140, begun = 60;
  const std::vector<int> counts(static_cast<size_t>(size), 40);
  std::vector<int> places;
  for (int r = 0; r < size; ++r) places.push_back(40 * r);
  for (int root = 0; root < size; ++root) {
    const bool writes = (rank == root) == scatters;
    for (int r = 0; r < size && !writes; ++r) {
      if ((r == root) == scatters) MPI_Recv(nullptr, 0, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!writes) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int round = 0; round < rounds; ++round) {
      std::vector<unsigned char> wanted;
      for (int r = 0; r < size; ++r) {
        const std::vector<unsigned char> block = block_of(round, r, 40);
        wanted.insert(wanted.end(), block.begin(), block.end());
      }
      std::vector<unsigned char> all(wanted.size()), mine = block_of(round, rank, 40);
      if (scatters) {
        std::vector<unsigned char> got(40);
        MPI_Scatterv(wanted.data(), counts.data(), places.data(), MPI_BYTE, got.data(), 40, MPI_BYTE, root,
                     MPI_COMM_WORLD);
        EXPECT(got == mine, "scatterv in round %d of %d", round, root);
      } else {
        MPI_Gatherv(mine.data(), 40, MPI_BYTE, all.data(), counts.data(), places.data(), MPI_BYTE, root,
                    MPI_COMM_WORLD);
        EXPECT(rank != root || all == wanted, "gatherv in round %d of %d", round, root);
      }
      for (int r = 0; r < size && writes && round == begun; ++r) {
        if ((r == root) != scatters) MPI_Send(nullptr, 0, MPI_INT, r, 0, MPI_COMM_WORLD);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// With memory for chunks, so that no rank waits for all to have it.
MPI_Comm returning() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::vector<char> some(1000);
  MPI_Bcast(some.data(), 1000, MPI_CHAR, 0, comm);
  MPI_Barrier(comm);
  return comm;
}

// The last rank takes an operation of rank 0 for another one. Neither waits for ever.
void other_operations() {
  const bool other = rank == size - 1;
  const std::vector<int> counts(static_cast<size_t>(size), 8);
  std::vector<int> places(static_cast<size_t>(size));
  for (int r = 0; r < size; ++r) places[static_cast<size_t>(r)] = r * 8;
  std::vector<char> all(static_cast<size_t>(size) * 8);
  char mine[8];
  for (const bool scatters : {true, false}) {
    MPI_Comm comm = returning();
    const int error = scatters != other
                          ? MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_CHAR, mine, 8, MPI_CHAR, 0, comm)
                          : MPI_Bcast(mine, 8, MPI_CHAR, 0, comm);
    if (other)
      EXPECT(expect::class_of(error) == MPI_ERR_OTHER, "rank 0 scatters %d: class %d", scatters,
             expect::class_of(error));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
  }
}

// The receiver gets more bytes than fit into its buffer: as many as in a line, in a chunk, and in a message.
void too_long() {
  for (const int bytes : {8, 48, 3000, 400000}) {
    const bool last = rank == size - 1;
    std::vector<int> counts(static_cast<size_t>(size), 1);
    counts.back() = bytes;
    std::vector<int> places(static_cast<size_t>(size));
    std::iota(places.begin(), places.end(), 0);
    std::vector<char> all(static_cast<size_t>(size + bytes)), mine(static_cast<size_t>(bytes), 'm');
    MPI_Comm comm = returning();
    int error = MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_CHAR, mine.data(), last ? bytes - 1 : 1,
                             MPI_CHAR, 0, comm);
    if (last)
      EXPECT(expect::class_of(error) == MPI_ERR_TRUNCATE, "scatterv of %d: class %d", bytes, expect::class_of(error));
    EXPECT(mine[static_cast<size_t>(bytes - 1)] == 'm', "scatterv of %d wrote behind the buffer", bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);

    comm = returning();
    all.assign(all.size(), 'm');
    counts.back() = bytes - 1;
    error = MPI_Gatherv(mine.data(), last ? bytes : 1, MPI_CHAR, all.data(), counts.data(), places.data(), MPI_CHAR, 0,
                        comm);
    if (rank == 0)
      EXPECT(expect::class_of(error) == MPI_ERR_TRUNCATE, "gatherv of %d: class %d", bytes, expect::class_of(error));
    EXPECT(all[static_cast<size_t>(size - 1 + bytes - 1)] == 'm', "gatherv of %d wrote behind the buffer", bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool large = argc > 1 && strcmp(argv[1], "large") == 0;
  expect::start(&argc, &argv);
  several_sizes(large ? 30 : 400, large);
  one_size(400);
  for (const bool scatters : {true, false}) ahead(scatters);
  if (large) {
    other_operations();
    too_long();
  }
  return expect::finish();
}
