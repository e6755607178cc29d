// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Level Zero: Intel's devices.

#include "device/describe.hpp"
#include "device/device.hpp"

namespace weft::device {

extern const Driver ze;
[[nodiscard]] Description describe_ze();  // while it is in use

}  // namespace weft::device
