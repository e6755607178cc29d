// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The bytes that the ranks of a run sent to each other, and how long each computed: from a file of its statistics.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/message.hpp"

namespace weft::tool {

struct Link {
  int32_t to;
  int64_t bytes;  // in both directions together
};

struct Sent {
  int32_t from;
  int32_t to;
  int64_t bytes;
  int64_t messages = 0;  // 0: the file does not say
};

struct Traffic {
  std::string program;  // empty: the file does not name it
  int32_t ranks = 0;
  std::vector<int32_t> ranks_per_host;  // of the run; empty: the file does not say
  std::vector<double> user_seconds;     // by rank, outside of MPI; empty likewise

  std::vector<Sent> sends;     // as the file lists them: a pair may be there twice
  int64_t bytes = 0;           // all that ranks sent to others
  std::vector<int64_t> first;  // links of rank r: links[first[r]] to links[first[r + 1]]
  std::vector<Link> links;     // each pair twice, by rank and `to`; without bytes, none

  [[nodiscard]] std::span<const Link> of(int32_t rank) const {
    const auto r = static_cast<size_t>(rank);
    return std::span(links).subspan(static_cast<size_t>(first[r]), static_cast<size_t>(first[r + 1] - first[r]));
  }
  // Between two ranks; 0 when there is no link.
  [[nodiscard]] int64_t between(int32_t a, int32_t b) const;
};

// Makes the links out of single sends between the ranks. Sends of the same pair are added up; those to oneself leave no
// process and are left out. False: the bytes exceed 2^62.
[[nodiscard]] bool make_links(const std::vector<Sent>& sends, Traffic& traffic);

// Reads a file of statistics (JSON), or lines of "from to bytes [messages]" (docs/guide/rank-order.md). `name` is the
// file's in messages.
[[nodiscard]] bool parse_traffic(std::string_view text, const std::string& name, Traffic& traffic,
                                 base::Problem& problem);
[[nodiscard]] bool read_traffic(const std::string& path, Traffic& traffic, base::Problem& problem);

}  // namespace weft::tool
