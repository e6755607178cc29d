// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The runtime's description of itself: the paths a message may take, with the ranges that the settings in force give.

#include <string>
#include <vector>

namespace weft::core {

struct PathRow {
  std::string name;
  std::string range;  // "up to 8152 bytes"
  std::string what;
  std::string cost;
};

// The four paths for a job of `ranks` ranks on one host.
std::vector<PathRow> describe_paths(int ranks);

// The difference between ranks of different hosts, in one sentence.
std::string describe_hosts();

}  // namespace weft::core
