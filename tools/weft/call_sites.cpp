// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/call_sites.hpp"

#include <algorithm>

#include "why/place.hpp"

namespace weft::tool {

std::string with_lines(const std::string& text, const RunStatistics& run) {
  return why::with_lines(text, run.program);
}

std::vector<SiteStatistics> longest_sites(const RunStatistics& run, size_t most) {
  std::vector<SiteStatistics> sites = run.sites;
  std::stable_sort(sites.begin(), sites.end(),
                   [](const SiteStatistics& a, const SiteStatistics& b) { return a.seconds > b.seconds; });
  if (sites.size() > most) sites.resize(most);
  return sites;
}

}  // namespace weft::tool
