// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/traffic.hpp"

#include <algorithm>

namespace weft::tool {

int64_t Traffic::between(int32_t a, int32_t b) const {
  const std::span<const Link> row = of(a);
  const auto at = std::lower_bound(row.begin(), row.end(), b, [](const Link& l, int32_t to) { return l.to < to; });
  return at != row.end() && at->to == b ? at->bytes : 0;
}

bool make_links(const std::vector<Sent>& sends, Traffic& traffic) {
  constexpr int64_t most = int64_t{1} << 62;
  traffic.bytes = 0;
  traffic.first.assign(static_cast<size_t>(traffic.ranks) + 1, 0);
  for (const Sent& s : sends) {
    if (s.from == s.to || s.bytes == 0) continue;
    if (s.bytes > most - traffic.bytes) return false;
    traffic.bytes += s.bytes;
    ++traffic.first[static_cast<size_t>(s.from) + 1];
    ++traffic.first[static_cast<size_t>(s.to) + 1];
  }
  for (size_t r = 1; r < traffic.first.size(); ++r) traffic.first[r] += traffic.first[r - 1];
  traffic.links.resize(static_cast<size_t>(traffic.first.back()));
  std::vector<int64_t> next(traffic.first.begin(), traffic.first.end() - 1);
  for (const Sent& s : sends) {
    if (s.from == s.to || s.bytes == 0) continue;
    traffic.links[static_cast<size_t>(next[static_cast<size_t>(s.from)]++)] = {s.to, s.bytes};
    traffic.links[static_cast<size_t>(next[static_cast<size_t>(s.to)]++)] = {s.from, s.bytes};
  }
  // Links of the same pair become one; rows move to the front.
  size_t end = 0;
  for (size_t r = 0; r + 1 < traffic.first.size(); ++r) {
    const auto from = static_cast<size_t>(traffic.first[r]);
    const auto to = static_cast<size_t>(traffic.first[r + 1]);
    std::sort(traffic.links.begin() + static_cast<std::ptrdiff_t>(from),
              traffic.links.begin() + static_cast<std::ptrdiff_t>(to),
              [](const Link& a, const Link& b) { return a.to < b.to; });
    const size_t begin = end;
    for (size_t i = from; i < to; ++i) {
      const Link link = traffic.links[i];
      if (end > begin && traffic.links[end - 1].to == link.to) {
        traffic.links[end - 1].bytes += link.bytes;
      } else {
        traffic.links[end++] = link;
      }
    }
    traffic.first[r] = static_cast<int64_t>(begin);
  }
  traffic.first.back() = static_cast<int64_t>(end);
  traffic.links.resize(end);
  return true;
}

}  // namespace weft::tool
