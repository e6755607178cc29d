// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Messages between memory of devices, as measured: in chunks of several sizes, so many copied at a time.

#include <cstdint>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "core/protocol/device_pipe.hpp"

namespace weft::tool {

// One size and way: microseconds of a message, a number for each round. `chunk` 0: the receiver maps the memory.
struct DeviceTimes {
  int64_t bytes = 0;
  int64_t chunk = 0;
  int32_t depth = 0;
  std::vector<double> us;
};

// Reads the output of weft-measure-devices. False: it is none, `wrong` is the line.
[[nodiscard]] bool read_device_times(const std::string& output, std::vector<DeviceTimes>& times, std::string& wrong);

// For each size the default chunks, or others where those take at most 0.95 of its time by the median and are the
// faster ones in three of four rounds. Sizes with the same chunks are one row; the last holds for all larger ones.
[[nodiscard]] std::vector<core::DevicePipe> best_pipes(const std::vector<DeviceTimes>& times);

// The smallest size from which on mapping is faster than chunks; 0: it never is.
[[nodiscard]] int64_t best_map_from(const std::vector<DeviceTimes>& times);

// The file, for WEFT_TUNING.
[[nodiscard]] std::string device_tuning_file(const std::vector<DeviceTimes>& times, const std::string& where);

// `weft tune --devices`: measures, prints what was found, and writes the file.
[[nodiscard]] bool tune_devices(bool quick, const std::string& file, bool json, base::Problem& problem);

}  // namespace weft::tool
