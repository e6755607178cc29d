// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ranks of a group that share a host: with them, collective operations let one rank of each host, its leader,
// communicate with the other hosts. core::Comm::hosts leads here; nullptr where it makes no difference: all ranks are
// on one host, or each has one to itself. It does not change, so any thread may read it.
//
// All ranks have the same, but for `host` and `place`. It takes 4 bytes for each host, and where ranks of different
// hosts alternate 4 more and 8 for each rank; communicators of one group share it.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace weft::core {

struct Hosts {
  // Hosts are numbered in the order of their first ranks. The ranks host by host, those of a host rising: where each
  // host begins among them, and the end.
  std::vector<int32_t> starts;
  // The ranks in that order, the first of each host, and the host of each rank; all empty when the order is that of
  // ranks.
  std::vector<int32_t> order;
  std::vector<int32_t> first_by_host;
  std::vector<int32_t> host_by_rank;
  int32_t host = 0;   // ours
  int32_t place = 0;  // ours among the ranks of our host

  int32_t count() const { return static_cast<int32_t>(starts.size()) - 1; }
  int32_t size() const { return starts.back(); }
  bool consecutive() const { return order.empty(); }
  int32_t start(int32_t h) const { return starts[static_cast<size_t>(h)]; }
  int32_t ranks_on(int32_t h) const { return start(h + 1) - start(h); }
  int32_t rank_at(int32_t i) const { return order.empty() ? i : order[static_cast<size_t>(i)]; }
  const int32_t* first_ranks() const { return order.empty() ? starts.data() : first_by_host.data(); }
  int32_t host_of(int32_t rank) const {
    if (!host_by_rank.empty()) return host_by_rank[static_cast<size_t>(rank)];
    return static_cast<int32_t>(std::upper_bound(starts.begin(), starts.end(), rank) - starts.begin()) - 1;
  }
  // The place of a rank among those of its host.
  int32_t place_of(int32_t rank) const {
    const int32_t h = host_of(rank);
    if (order.empty()) return rank - start(h);
    const auto first = order.begin() + start(h);
    return static_cast<int32_t>(std::lower_bound(first, order.begin() + start(h + 1), rank) - first);
  }
};

// Finds the hosts as `rank` of `size` sees them; `host_of` gives the host of a rank, any number. nullptr: hosts make no
// difference.
[[nodiscard]] std::unique_ptr<const Hosts> find_hosts(int32_t rank, int32_t size,
                                                      const std::function<int32_t(int32_t)>& host_of);

// Whether the settings want collective operations to go by hosts.
[[nodiscard]] bool hosts_wanted();

}  // namespace weft::core
