// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "domain.hpp"
#include "output.hpp"

namespace mhd {

// Patches move between ranks so that each has the same load. Ranks keep consecutive ranges: only their ends change.

// Consecutive ranges of nearly equal load, each of 1 to `most` patches: the first patch of each rank, and one past the
// last of all. Every rank computes the same from the same loads.
std::vector<int> equal_ranges(const std::vector<double>& loads, int ranks, int most);

// The load of the rank that has most, with these ranges.
double largest_load(const std::vector<double>& loads, const std::vector<int>& ranges);

// Loads that were made up, to try the moves: a wave goes over the patches, one place for each step.
std::vector<double> wave_loads(int patches, int64_t step);

// Collective: the loads of all patches, from those of each rank's own.
std::vector<double> gather_loads(const std::vector<double>& mine, const Domain& domain);

// Collective: patches travel as the domain is spread anew. The number of those that this rank received.
int64_t move_patches(const std::vector<int>& ranges, Domain* domain, State* state);

}  // namespace mhd
