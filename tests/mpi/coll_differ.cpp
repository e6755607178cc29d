// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// One collective operation in which the last rank, or the first, has another count than the rest, or takes part in
// another operation. The job must end with a message that says so: a truncation where a rank sees one, else that of
// ranks that have waited for long and asked the others. Where nobody has to wait and nothing is too long, rank 0 says
// so.
//
// coll_differ OPERATION blocking|nonblocking|persistent|all COUNT COUNT_OF_ONE first|last [OPERATION_OF_ONE]
//   all   nonblocking, between others and completed with them by MPI_Waitall
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

struct Call {
  std::string form;
  int count;
  std::vector<int64_t> from, to;
  std::vector<int> counts, places;
  MPI_Request request = MPI_REQUEST_NULL;

  Call(std::string how, int n) : form(std::move(how)), count(n) {
    const auto all = static_cast<size_t>(count) * static_cast<size_t>(size) + 1;
    from.assign(all, 1);
    to.assign(all, 0);
    for (int r = 0; r < size; ++r) {
      counts.push_back(count);
      places.push_back(r * count);
    }
  }
};

// The three forms of a call that differ in their last arguments alone.
#define FORMS(name, in_background, ...)                                             \
  if (op == #name) {                                                                \
    if (c.form == "blocking") return (void)MPI_##name(__VA_ARGS__, MPI_COMM_WORLD); \
    if (c.form == "persistent") {                                                   \
      MPI_##name##_init(__VA_ARGS__, MPI_COMM_WORLD, MPI_INFO_NULL, &c.request);    \
      return (void)MPI_Start(&c.request);                                           \
    }                                                                               \
    return (void)MPI_I##in_background(__VA_ARGS__, MPI_COMM_WORLD, &c.request);     \
  }

void issue(const std::string& op, Call& c) {
  int64_t* const s = c.from.data();
  int64_t* const r = c.to.data();
  int* const counts = c.counts.data();
  int* const places = c.places.data();
  const int n = c.count;
  const MPI_Datatype type = MPI_INT64_T;
  FORMS(Bcast, bcast, s, n, type, 0)
  FORMS(Reduce, reduce, s, r, n, type, MPI_SUM, 0)
  FORMS(Allreduce, allreduce, s, r, n, type, MPI_SUM)
  FORMS(Scan, scan, s, r, n, type, MPI_SUM)
  FORMS(Exscan, exscan, s, r, n, type, MPI_SUM)
  FORMS(Reduce_scatter, reduce_scatter, s, r, counts, type, MPI_SUM)
  FORMS(Reduce_scatter_block, reduce_scatter_block, s, r, n, type, MPI_SUM)
  FORMS(Gather, gather, s, n, type, r, n, type, 0)
  FORMS(Gatherv, gatherv, s, n, type, r, counts, places, type, 0)
  FORMS(Scatter, scatter, s, n, type, r, n, type, 0)
  FORMS(Scatterv, scatterv, s, counts, places, type, r, n, type, 0)
  FORMS(Allgather, allgather, s, n, type, r, n, type)
  FORMS(Allgatherv, allgatherv, s, n, type, r, counts, places, type)
  FORMS(Alltoall, alltoall, s, n, type, r, n, type)
  FORMS(Alltoallv, alltoallv, s, counts, places, type, r, counts, places, type)
  fprintf(stderr, "coll_differ: there is no operation %s\n", op.c_str());
  exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 6) return 2;
  const bool differs = rank == (strcmp(argv[5], "first") == 0 ? 0 : size - 1);
  const bool among_others = strcmp(argv[2], "all") == 0;
  Call call(among_others ? "nonblocking" : argv[2], atoi(argv[differs ? 4 : 3]));
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (among_others) MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  issue(differs && argc > 6 ? argv[6] : argv[1], call);
  requests[1] = call.request;
  if (among_others) MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("no rank has seen it");
  MPI_Finalize();
  return 0;
}
