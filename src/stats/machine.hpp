// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The cores of a host, as a short text for reports: "0+4,1+5;2+6,3+7|8,9" has two packages. The first of them has
// two last-level caches with two cores each, of two processors each, by the system's numbers.

#include <string>
#include <string_view>
#include <vector>

namespace weft::stats {

// Describes the machine as the system tells under `root`; empty when nothing is told.
[[nodiscard]] std::string describe_machine(const std::string& root = "/sys/devices/system");

struct MachineCore {
  int package = 0;
  int cache = 0;  // numbered through all packages
  std::vector<int> processors;
};

// Reads such a text, which may come from a file of anyone. Empty: it is none.
[[nodiscard]] std::vector<MachineCore> parse_machine(std::string_view text);

}  // namespace weft::stats
