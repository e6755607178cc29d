// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A driver and its devices in words, for people.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::device {

struct Description {
  struct DescribedDevice {
    std::string name;
    uint64_t bytes;    // of memory
    std::string note;  // where it is, and what keeps processes from sharing it
  };
  std::string driver;  // its version
  std::vector<DescribedDevice> devices;
  std::string problem;  // why there is no more
};

}  // namespace weft::device
