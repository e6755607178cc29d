// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Moving elements where the processor cannot touch them, or their packed bytes (device/api/device.hpp): by the driver's
// copies. pack(), unpack() and copy() come here by themselves. device::take_failure() tells of those that fail.

#include "datatype/type.hpp"
#include "device/api/device.hpp"

namespace weft::datatype {

// Whether elements lie on a device.
[[nodiscard, gnu::cold]] bool lie_on_device(const Type& type, int64_t count, const void* buffer);
[[nodiscard]] inline bool are_on_device(const Type& type, int64_t count, const void* buffer) {
  return device::on() && lie_on_device(type, count, buffer);
}

// As pack() and unpack(), when either side is on a device.
[[gnu::cold]] void pack_on_device(const Type& type, int64_t count, const void* buffer, int64_t position, void* out,
                                  int64_t bytes);
[[gnu::cold]] void unpack_on_device(const Type& type, int64_t count, void* buffer, int64_t position, const void* in,
                                    int64_t bytes);

}  // namespace weft::datatype
