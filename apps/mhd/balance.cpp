// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "balance.hpp"

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace mhd {

std::vector<int> equal_ranges(const std::vector<double>& loads, int ranks, int most) {
  const int patches = static_cast<int>(loads.size());
  const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
  std::vector<int> first = {0};
  double before = 0;  // the load of the patches below `next`
  int next = 0;
  for (int r = 1; r < ranks; ++r) {
    // Up to the patch whose middle is beyond an equal share, as far as all ranks can have 1 to `most` patches.
    const int least = std::max(first.back() + 1, patches - (ranks - r) * most);
    const int largest = std::min(first.back() + most, patches - (ranks - r));
    const double aim = all * r / ranks;
    while (next < largest && (next < least || before + 0.5 * loads[static_cast<std::size_t>(next)] < aim))
      before += loads[static_cast<std::size_t>(next++)];
    first.push_back(next);
  }
  first.push_back(patches);
  return first;
}

double largest_load(const std::vector<double>& loads, const std::vector<int>& ranges) {
  double largest = 0;
  for (std::size_t r = 0; r + 1 < ranges.size(); ++r)
    largest = std::max(largest, std::accumulate(loads.begin() + ranges[r], loads.begin() + ranges[r + 1], 0.0));
  return largest;
}

std::vector<double> wave_loads(int patches, int64_t step) {
  std::vector<double> loads;
  for (int i = 0; i < patches; ++i) loads.push_back((i + step) % patches < patches / 2 ? 3 : 1);
  return loads;
}

std::vector<double> gather_loads(const std::vector<double>& mine, const Domain& domain) {
  std::vector<double> all(static_cast<std::size_t>(domain.patches()));
  const std::vector<int>& first = domain.ranges();
  std::vector<int> counts;
  for (std::size_t r = 0; r + 1 < first.size(); ++r) counts.push_back(first[r + 1] - first[r]);
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), counts.data(), first.data(),
                 MPI_DOUBLE, MPI_COMM_WORLD);
  return all;
}

int64_t move_patches(const std::vector<int>& ranges, Domain* domain, State* state) {
  const std::vector<int> old = domain->ranges();
  int self = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  const auto rank = static_cast<std::size_t>(self);
  const std::size_t size = fields * domain->patch.volume;
  MPI_Datatype patch = MPI_DATATYPE_NULL;  // a count of doubles would overflow at 2 GiB
  MPI_Type_contiguous(static_cast<int>(size), MPI_DOUBLE, &patch);
  MPI_Type_commit(&patch);
  State next = {{}, ranges[rank], ranges[rank + 1] - ranges[rank], state->step, state->time, state->longest};
  next.cells.resize(static_cast<std::size_t>(next.count) * size);
  std::vector<MPI_Request> requests;
  int64_t received = 0;
  for (std::size_t other = 0; other + 1 < old.size(); ++other) {
    const int from = std::max(old[other], ranges[rank]), to = std::min(old[other + 1], ranges[rank + 1]);
    if (from >= to) continue;
    if (other == rank) {
      const double* kept = state->patch(*domain, from);
      std::copy_n(kept, static_cast<std::size_t>(to - from) * size, next.patch(*domain, from));
    } else {
      MPI_Irecv(next.patch(*domain, from), to - from, patch, static_cast<int>(other), 0, MPI_COMM_WORLD,
                &requests.emplace_back());
      received += to - from;
    }
  }
  for (std::size_t other = 0; other + 1 < old.size(); ++other) {
    const int from = std::max(old[rank], ranges[other]), to = std::min(old[rank + 1], ranges[other + 1]);
    if (from >= to || other == rank) continue;
    MPI_Isend(state->patch(*domain, from), to - from, patch, static_cast<int>(other), 0, MPI_COMM_WORLD,
              &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Type_free(&patch);
  *state = std::move(next);
  domain->spread(ranges);
  return received;
}

}  // namespace mhd
