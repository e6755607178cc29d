// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The settings beside WEFT_STATS, and the counters that WEFT_STATS=on prints at the end of a run. Statistics of calls
// are another thing: observe.hpp.

#include <string>

#include "core/object/comm.hpp"

namespace weft::observe {

[[nodiscard]] const char* statistics_file();  // WEFT_STATS_FILE, "" when not given

// The folders of counters that WEFT_ENERGY asks for, as stats::EnergyMeter takes them; "" when it is off.
[[nodiscard]] std::string energy_folders();

// Tells of the settings that have no effect, as WEFT_STATS asks for no statistics of calls.
void tell_settings_without_calls();

// Collective over `world`, which has all ranks of the job; its rank 0 prints.
void print_counters(core::Comm& world);

}  // namespace weft::observe
