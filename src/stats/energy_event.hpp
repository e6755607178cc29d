// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The counters of energy that the kernel gives as events of perf: a folder as /sys/bus/event_source/devices/power, with
// the events energy-pkg (packages) and energy-ram (memory), each with its scale to joules. An event is counted on one
// processor of each package, as `cpumask` lists them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace weft::stats {

// Opens a system-wide counter of an event on a processor. Returns a descriptor, of which each read gives the count as 8
// bytes; -1 and errno when that fails.
using OpenEvent = int (*)(uint32_t type, uint64_t config, int cpu);
[[nodiscard]] int open_perf_event(uint32_t type, uint64_t config, int cpu);

struct EnergyEvent {
  base::Descriptor file;
  std::string path;  // of the event in the folder
  double joules;     // of one count
  uint64_t last;
};

// Whether the folder has the form of events.
[[nodiscard]] bool has_energy_events(const std::string& folder);

// Appends the folder's counters of energy, open and read for the first time. 0, or an errno: `subject` is the file or
// the event that cannot be used. An event that is not there is not reported.
[[nodiscard]] int open_energy_events(const std::string& folder, OpenEvent open, std::vector<EnergyEvent>& events,
                                     std::string& subject);

// Reads a count. 0, or an errno.
[[nodiscard]] int read_count(int file, uint64_t& count);

}  // namespace weft::stats
