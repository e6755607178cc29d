// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Whether the data of a simulated operation arrive where they belong. Memory is symbols: for each stretch of bytes,
// whose bytes they are and from which place of the rank's data on; of a reduction, the sum of a number for each rank
// that took part, so that one left out or taken twice is seen.

#include "weft/planner.hpp"
#include "weft/simulation.hpp"

namespace weft::tool {

// Data::unchecked: the operation has no data, or is too large for this. `steps`: of all ranks.
[[nodiscard]] Data check_contents(const Operation& operation, Planner& planner, size_t steps);

}  // namespace weft::tool
