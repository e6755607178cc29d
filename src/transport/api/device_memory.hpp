// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "transport/api/capabilities.hpp"

namespace weft::transport {

// The bit of Capabilities::memory behind host_memory: register_memory() and Endpoint::read() take memory of devices of
// the driver in use.
inline constexpr uint32_t device_memory = host_memory << 1;

}  // namespace weft::transport
