// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Messages between a device and staging memory go in chunks, of which several are copied at a time: how large they are
// and how many, by the size of the message. `weft tune --devices` measures that for a machine, and WEFT_TUNING has it.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::core {

struct DevicePipe {
  int64_t bytes;  // of messages up to so many
  int64_t chunk;  // bytes
  int32_t depth;  // chunks copied at a time
};
inline constexpr int64_t least_device_chunk = 4 << 10, most_device_chunk = 128 << 10;
inline constexpr int32_t most_device_depth = 8;

// For a message of so many bytes: by the settings WEFT_DEVICE_CHUNK and WEFT_DEVICE_DEPTH, the rows, or the default.
[[nodiscard]] DevicePipe device_pipe(int64_t bytes);

// The rows of a file, sizes rising. Before messages.
void set_device_pipes(std::vector<DevicePipe> rows);

}  // namespace weft::core
