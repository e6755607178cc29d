// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stats/area.hpp"

namespace weft::stats {

// The setting WEFT_STATS.
[[nodiscard]] Level wanted_level();

}  // namespace weft::stats
