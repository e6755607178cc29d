// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/call_sites.hpp"

#include <algorithm>
#include <charconv>

#include "why/place.hpp"

namespace weft::tool {
namespace {

// Where the function's name and offset begin that stand before the site, if they do: "function+0x12 ".
size_t begin_of(const std::string& text, size_t site) {
  if (site < 2 || text[site - 1] != ' ') return site;
  const size_t space = text.rfind(' ', site - 2);
  const size_t begin = space == std::string::npos ? 0 : space + 1;
  return text.find("+0x", begin) < site ? begin : site;
}

}  // namespace

std::string with_lines(const std::string& text, const RunStatistics& run) {
  const std::string name = run.program.substr(run.program.rfind('/') + 1) + "+0x";
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(name); at != std::string::npos && name.size() > 3; at = text.find(name, at + 1)) {
    if (at > 0 && text[at - 1] != ' ') continue;
    uint64_t offset = 0;
    constexpr int hexadecimal = 16;
    const auto [end, error] =
        std::from_chars(text.data() + at + name.size(), text.data() + text.size(), offset, hexadecimal);
    const std::string line = error == std::errc() ? why::line_of(run.program, offset) : "";
    if (line.empty()) continue;
    const size_t begin = std::max(done, begin_of(text, at));
    out.append(text, done, begin - done).append(line);
    done = static_cast<size_t>(end - text.data());
  }
  return out.append(text, done);
}

std::vector<SiteStatistics> longest_sites(const RunStatistics& run, size_t most) {
  std::vector<SiteStatistics> sites = run.sites;
  std::stable_sort(sites.begin(), sites.end(),
                   [](const SiteStatistics& a, const SiteStatistics& b) { return a.seconds > b.seconds; });
  if (sites.size() > most) sites.resize(most);
  return sites;
}

}  // namespace weft::tool
