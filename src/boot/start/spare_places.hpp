// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Spare places of a job on several hosts: as many on each, whose ranks follow those that the job began with, host by
// host in the order of the hosts' first ranks. So a rank tells its host. A place has one process and no second one:
// ranks of other hosts could not tell them apart.

#include <cstdint>
#include <string>
#include <vector>

#include "boot/job/job.hpp"

namespace weft::boot {

// Jobs with more ranks cannot grow: a spawned process is told the host of each.
inline constexpr int most_ranks_that_grow = 4096;
inline constexpr int spare_on_each_host = 256;

struct Spares {
  int started = INT32_MAX;  // ranks below it are those that the job began with
  int spare = 0;            // on each host
};

// Sets the job's numbers; `host_of` gives a number for the host of each rank that it began with.
void number_spare_places(Job& job, int (*host_of)(int rank));
// The host of a rank behind those, as `host_of` numbered it.
[[nodiscard]] int host_of_spare(const Spares& spares, int rank);

// The facts of its job that a spawned process needs, as text, and how it takes that: the process has the place `place`
// of its host. False: the text is none.
[[nodiscard]] std::string description_of(const Job& job, int (*host_of)(int rank));
[[nodiscard]] bool take_description(Job& job, std::string text, int place, std::vector<int>& host_of_rank);

}  // namespace weft::boot
