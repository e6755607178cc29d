// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Communicators made and freed by the thousand: those that live meanwhile are not disturbed; memory does not grow and
// the last ones take no longer than the first (judged in the rows of the nightly run).
#include <unistd.h>

#include <cstdlib>
#include <ctime>

#include "expect.hpp"

namespace {

// Private memory that the process has asked for, whether or not it was touched: providers of libfabric touch buffers of
// their own bit by bit.
long private_bytes() {
  long data = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  EXPECT(file != nullptr && fscanf(file, "%*d %*d %*d %*d %*d %ld", &data) == 1, "no memory to see");
  if (file != nullptr) fclose(file);
  return data * sysconf(_SC_PAGESIZE);
}

// Processor time does not see how busy the machine is with others.
double processor_seconds() {
  return static_cast<double>(clock()) / CLOCKS_PER_SEC;
}

void dup() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_free(&comm);
}

// Colours, order and who gets none change from one to the next.
void split(int round) {
  MPI_Comm comm;
  const int color = (expect::rank + round) % 3;
  MPI_Comm_split(MPI_COMM_WORLD, color == 2 ? MPI_UNDEFINED : color, -expect::rank, &comm);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

// A communicator is used before it goes, by a message that could stray into the next one.
void use(int round) {
  MPI_Comm comm;
  int rank = 0, size = 0, in = -1;
  MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, round % 2 == 0 ? expect::rank : -expect::rank, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int out = round * 1000 + rank;
  MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
               MPI_STATUS_IGNORE);
  EXPECT(in == round * 1000 + (rank + size - 1) % size, "round %d: %d", round, in);
  MPI_Comm_free(&comm);
}

void create_group(int round) {
  MPI_Group all, some;
  MPI_Comm comm;
  int range[1][3] = {{round % expect::size, expect::size - 1, 1}};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_range_incl(all, 1, range, &some);
  MPI_Comm_create_group(MPI_COMM_WORLD, some, round, &comm);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
}

void inter(MPI_Comm half, int round) {
  MPI_Comm comm, both;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, expect::rank % 2 == 0 ? 1 : 0, round, &comm);
  MPI_Intercomm_merge(comm, expect::rank % 2, &both);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&both);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) : 10000;
  MPI_Comm lives, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &lives);
  MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, 0, &half);
  auto all_kinds = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      dup();
      split(i);
      if (i % 10 == 0) use(i);
      if (i % 10 == 1) create_group(i);
      if (i % 10 == 2 && expect::size > 1) inter(half, i);
    }
  };
  all_kinds(count / 10);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = private_bytes();
  const double start = processor_seconds();
  all_kinds(count / 10);
  const double first = processor_seconds();
  all_kinds(count - 2 * (count / 10));
  const double middle = processor_seconds();
  all_kinds(count / 10);
  const double slower = (processor_seconds() - middle) - (first - start);
  EXPECT_AT_MOST("seconds that the last tenth took longer than the first", slower, 4 * (first - start) + 0.2);
  const long grown = private_bytes() - before;
#if !defined(WEFT_ASAN) && !defined(WEFT_TSAN)  // these keep what was freed
  // 10 000 communicators of any lasting size would be more.
  EXPECT_AT_MOST("bytes that memory grew by", static_cast<double>(grown), 256 * 1024);
#else
  (void)grown;
#endif
  int sum = 0, one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, lives);
  EXPECT(sum == expect::size, "sum %d", sum);
  MPI_Comm_free(&lives);
  MPI_Comm_free(&half);
  return expect::finish();
}
