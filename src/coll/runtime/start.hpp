// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace weft::coll {

// When the job starts: reads the file of WEFT_TUNING and opens the component of WEFT_OFFLOAD. If one cannot be used,
// the process ends with a message. Returns a number that must be the same on all ranks: see core::start().
[[nodiscard]] uint64_t start();

}  // namespace weft::coll
