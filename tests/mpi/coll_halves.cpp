// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations of a few bytes, of which two share a line, between such that have a line alone or larger places: all by
// changing roots, and many more than there are lines. A root runs ahead by more operations than there are lines. Ranks
// that disagree about such an operation find it, whether they have a half of a line or a whole one, and wherever their
// next half is.
#include <numeric>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

constexpr int sizes[] = {1, 8, 16, 17, 8, 8, 24, 48, 8, 49, 2, 1000};

std::vector<unsigned char> block_of(int round, int r, int bytes) {
  std::vector<unsigned char> block(static_cast<size_t>(bytes));
  std::iota(block.begin(), block.end(), static_cast<unsigned char>(round * 31 + r * 7));
  return block;
}

std::vector<unsigned char> blocks_of(int round, int bytes) {
  std::vector<unsigned char> all;
  for (int r = 0; r < size; ++r) {
    const std::vector<unsigned char> block = block_of(round, r, bytes);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

// Sums of all ranks' blocks below `end`.
std::vector<unsigned char> sums_of(int round, int end, int bytes) {
  std::vector<unsigned char> sums(static_cast<size_t>(bytes));
  for (int r = 0; r < end; ++r) {
    const std::vector<unsigned char> block = block_of(round, r, bytes);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<unsigned char>(sums[i] + block[i]);
  }
  return sums;
}

void operate(int round, int kind, int bytes, int root) {
  const auto all = static_cast<size_t>(bytes) * static_cast<size_t>(size);
  const std::vector<unsigned char> mine = block_of(round, rank, bytes);
  std::vector<unsigned char> got(static_cast<size_t>(bytes)), gathered(all);
  switch (kind) {
    case 0:
      if (rank == root) got = mine;
      MPI_Bcast(got.data(), bytes, MPI_BYTE, root, MPI_COMM_WORLD);
      EXPECT(got == block_of(round, root, bytes), "bcast of %d bytes in round %d", bytes, round);
      break;
    case 1:
      MPI_Gather(mine.data(), bytes, MPI_BYTE, gathered.data(), bytes, MPI_BYTE, root, MPI_COMM_WORLD);
      EXPECT(rank != root || gathered == blocks_of(round, bytes), "gather of %d bytes in round %d", bytes, round);
      break;
    case 2:
      gathered = blocks_of(round, bytes);
      MPI_Scatter(gathered.data(), bytes, MPI_BYTE, got.data(), bytes, MPI_BYTE, root, MPI_COMM_WORLD);
      EXPECT(got == mine, "scatter of %d bytes in round %d", bytes, round);
      break;
    case 3:
      MPI_Reduce(mine.data(), got.data(), bytes, MPI_UNSIGNED_CHAR, MPI_SUM, root, MPI_COMM_WORLD);
      EXPECT(rank != root || got == sums_of(round, size, bytes), "reduce of %d bytes in round %d", bytes, round);
      break;
    case 4:
      MPI_Scan(mine.data(), got.data(), bytes, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
      EXPECT(got == sums_of(round, rank + 1, bytes), "scan of %d bytes in round %d", bytes, round);
      break;
    case 5:
      MPI_Exscan(mine.data(), got.data(), bytes, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
      EXPECT(rank == 0 || got == sums_of(round, rank, bytes), "exscan of %d bytes in round %d", bytes, round);
      break;
    case 6:
      MPI_Allreduce(mine.data(), got.data(), bytes, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
      EXPECT(got == sums_of(round, size, bytes), "allreduce of %d bytes in round %d", bytes, round);
      break;
    default:
      MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Numbers that look random, alike on all ranks.
void mixed(int rounds) {
  unsigned number = 1;
  const auto next = [&](size_t below) { return (number = number * 1103515245 + 12345) / 65536 % below; };
  for (int round = 0; round < rounds; ++round) {
    const int bytes = sizes[next(std::size(sizes))];
    // Operations in which all wait for all are rare, so that ranks run ahead.
    const auto kind = static_cast<int>(next(20) == 0 ? 6 + next(2) : next(6));
    operate(round, kind, bytes, static_cast<int>(next(static_cast<size_t>(size))));
  }
}

// A root that posts so many operations before the others enter the first of them.
void ahead() {
  constexpr int begun = 120;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int round = 0; round < 4 * begun; ++round) {
    for (int r = 1; r < size && rank == 0 && round == begun; ++r) MPI_Send(nullptr, 0, MPI_INT, r, 0, MPI_COMM_WORLD);
    operate(round, 0, round % 16 + 1, 0);
  }
}

enum class Kind : uint8_t { bcast, gather, scatter, reduce, scan, allreduce };

int call(Kind kind, int bytes, MPI_Comm comm) {
  std::vector<unsigned char> in(static_cast<size_t>(bytes)),
      out(static_cast<size_t>(bytes) * static_cast<size_t>(size));
  switch (kind) {
    case Kind::bcast:
      return MPI_Bcast(in.data(), bytes, MPI_BYTE, 0, comm);
    case Kind::gather:
      return MPI_Gather(in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, 0, comm);
    case Kind::scatter:
      return MPI_Scatter(out.data(), bytes, MPI_BYTE, in.data(), bytes, MPI_BYTE, 0, comm);
    case Kind::reduce:
      return MPI_Reduce(in.data(), out.data(), bytes, MPI_UNSIGNED_CHAR, MPI_SUM, 0, comm);
    case Kind::scan:
      return MPI_Scan(in.data(), out.data(), bytes, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
    default:
      return MPI_Allreduce(in.data(), out.data(), bytes, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
  }
}

struct Call {
  Kind kind;
  int bytes;
};

// After `before` halves the last rank enters another operation than the others. `waits`: the one that waits for a post
// of the other, and finds it to be a wrong one.
void disagree(int before, const Call& theirs, const Call& last_ones, int waits) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Barrier(comm);
  for (int i = 0; i < before; ++i) (void)call(Kind::bcast, 8, comm);
  const Call& mine = rank == size - 1 ? last_ones : theirs;
  const int error = expect::class_of(call(mine.kind, mine.bytes, comm));
  const int wanted = theirs.kind == last_ones.kind ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
  if (rank == waits)
    EXPECT(error == wanted, "%d of %d bytes, %d of %d, behind %d: class %d", static_cast<int>(theirs.kind),
           theirs.bytes, static_cast<int>(last_ones.kind), last_ones.bytes, before, error);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

void disagreements() {
  const int last = size - 1;
  for (int before = 0; before < 4; ++before) {
    for (const Kind kind : {Kind::bcast, Kind::gather, Kind::reduce, Kind::scan}) {
      const int waits = kind == Kind::bcast || kind == Kind::scan ? last : 0;
      for (const int bytes : {4, 16, 17, 48}) {
        disagree(before, {kind, 8}, {kind, bytes}, waits);
        disagree(before, {kind, bytes}, {kind, 8}, waits);
      }
    }
    for (const int bytes : {2, 8, 40}) {
      disagree(before, {Kind::bcast, 8}, {Kind::scatter, bytes}, last);
      disagree(before, {Kind::scatter, bytes}, {Kind::bcast, 8}, last);
    }
    if (size == 2) {  // a third rank would wait for those that have ended
      disagree(before, {Kind::allreduce, 8}, {Kind::gather, 8}, 0);
      disagree(before, {Kind::bcast, 8}, {Kind::allreduce, 8}, last);
    }
    disagree(before, {Kind::reduce, 8}, {Kind::gather, 8}, 0);
    disagree(before, {Kind::gather, 40}, {Kind::reduce, 8}, 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  mixed(6000);
  ahead();
  disagreements();
  return expect::finish();
}
