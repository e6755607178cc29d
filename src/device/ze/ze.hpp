// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Level Zero's devices in words.

#include "device/api/description.hpp"

namespace weft::device {

[[nodiscard]] Description describe_ze();  // while it is in use

}  // namespace weft::device
