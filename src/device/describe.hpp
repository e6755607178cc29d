// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The driver in use and its devices, described for people (weft info devices).

#include <cstdint>
#include <string>
#include <vector>

namespace weft::device {

struct Description {
  struct Item {
    std::string name;
    uint64_t bytes;    // of memory
    std::string note;  // where it is, and what keeps processes from sharing it
  };
  std::string driver;  // its version
  std::vector<Item> devices;
  std::string problem;  // why there is no more
};

// Of the driver in use, device::active.
[[nodiscard]] Description describe();
[[nodiscard]] Description describe_cuda();
// Why the driver in use did without a kernel since the last call; empty: it did not.
[[nodiscard]] std::string why_no_kernel();

}  // namespace weft::device
