// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The settings beside WEFT_STATS, and the counters that it prints at the end of a run. Statistics of calls are another
// thing: mpi/observe.

#include <string>

namespace weft::mpi {

[[nodiscard]] const char* statistics_file();  // WEFT_STATS_FILE, "" when not given

// The folders of counters that WEFT_ENERGY asks for, as stats::EnergyMeter takes them; "" when it is off.
[[nodiscard]] std::string energy_folders();

// Tells of the settings that have no effect, as WEFT_STATS asks for no statistics of calls.
void tell_settings_without_calls();

// Whether WEFT_STATS is not off.
[[nodiscard]] bool statistics_wanted();

// Collective over MPI_COMM_WORLD, called by MPI_Finalize while messages still work; rank 0 prints. Nothing unless
// WEFT_STATS is on.
void print_statistics();

}  // namespace weft::mpi
