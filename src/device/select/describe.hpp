// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The driver in use and its devices, described for people (weft info devices).

#include <string>

#include "device/api/description.hpp"

namespace weft::device {

// Describes the driver in use, device::active.
[[nodiscard]] Description describe();
// Why the driver in use did without a kernel since the last call; empty: it did not.
[[nodiscard]] std::string why_no_kernel();

}  // namespace weft::device
