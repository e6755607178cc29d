// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/advice_lines.hpp"

#include <algorithm>
#include <iterator>

#include "weft/call_sites.hpp"
#include "weft/placement_gain.hpp"

namespace weft::tool {
namespace {

// Text of a file as it may be printed.
std::string shown(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = '?';
  }
  return text;
}

}  // namespace

std::vector<std::string> advice_lines(const RunStatistics& run, const Machine& machine) {
  std::vector<std::string> lines;
  for (const std::string& line : run.advice) lines.push_back(shown(with_lines(line, run)));
  if (std::string line = placement_advice(run); !line.empty()) {
    // Its cost in time is not known: behind the two that cost most.
    const auto place = lines.begin() + std::min<ptrdiff_t>(2, std::ssize(lines));
    lines.insert(place, shown(with_lines(line, run)));
  }
  for (std::string& line : algorithm_advice(run, machine)) lines.push_back(shown(std::move(line)));
  return lines;
}

}  // namespace weft::tool
