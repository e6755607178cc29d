// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace weft::boot {

// The setting WEFT_WHY_AFTER, of the launcher. It lies here because ranks get the variable, too, and must know it.
[[nodiscard]] uint64_t quiet_seconds();

}  // namespace weft::boot
