// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which host each rank is on, for tests that run on one host or several.

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace by_host {

// By rank in MPI_COMM_WORLD. Collective.
inline std::vector<std::string> hosts() {
  int size = 0, length = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char mine[MPI_MAX_PROCESSOR_NAME] = "";
  MPI_Get_processor_name(mine, &length);
  std::vector<char> all(static_cast<size_t>(size) * sizeof mine);
  MPI_Allgather(mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> names;
  for (size_t r = 0; r < static_cast<size_t>(size); ++r) names.emplace_back(&all[r * sizeof mine]);
  return names;
}

// Returns those of the given ranks of MPI_COMM_WORLD that are on this rank's host. It is collective.
inline std::vector<int> here(const std::vector<int>& ranks) {
  const std::vector<std::string> names = hosts();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<int> some;
  for (int r : ranks) {
    if (names[static_cast<size_t>(r)] == names[static_cast<size_t>(rank)]) some.push_back(r);
  }
  return some;
}

// All of them.
inline std::vector<int> here() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> all;
  for (int r = 0; r < size; ++r) all.push_back(r);
  return here(all);
}

}  // namespace by_host
