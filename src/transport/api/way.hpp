// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace weft::transport {

// How a large message gets to its receiver while both are in a call. Cells: both copy, through staging memory. Kernel:
// one side or both read or write the other's memory directly. Other: the transport has no choice.
enum class Way : uint8_t { cells, kernel, other };

}  // namespace weft::transport
