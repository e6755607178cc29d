// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Cores of a host that are kept free of ranks, for the library's own threads and the system (WEFT_RESERVE_CORES). Our
// mpiexec deals cores out without them. Under other launchers ranks leave them, as far as their masks allow.

#include <span>
#include <string>
#include <vector>

#include "base/cpus.hpp"

namespace weft::boot {

// The setting.
[[nodiscard]] int wanted_reserve();

// The processors that ranks with these masks, all of a host, keep free as the setting has it; says when not so many.
[[nodiscard]] base::CpuSet reserve_of(std::span<const base::CpuSet> masks);

// The calling thread, and so those that it makes later, leave the reserved processors, if any, to the library's
// threads. Nothing changes where the system does not let these go there; `tells` says so.
void leave_reserve(const base::CpuSet& reserved, bool tells);

// How many processors' worth of time ranks with these masks have without the reserved ones.
[[nodiscard]] int usable_without(std::span<const base::CpuSet> masks, const base::CpuSet& reserved);

struct Reserve {
  base::CpuSet cpus;  // whole cores, as far as the ranks may use them
  int cores = 0;      // so many
  std::string why;    // why not as many as wanted; empty: they are
};

// At most `wanted` cores, the last ones first, such that no rank is left without a processor. `masks`: of each rank of
// the host; `cores`: those of the host. A pure function.
[[nodiscard]] Reserve choose_reserve(std::span<const base::CpuSet> masks, std::span<const base::CpuSet> cores,
                                     int wanted);

// The cores that the processors of a set lie in, in their order, as the system tells under `root`.
[[nodiscard]] std::vector<base::CpuSet> cores_of(const base::CpuSet& set, const char* root = "/sys/devices/system");

}  // namespace weft::boot
