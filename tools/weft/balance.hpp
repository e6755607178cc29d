// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Orders of ranks for hosts that compute equally long (docs/guide/rank-order.md). The traffic has the times of all
// ranks.

#include <vector>

#include "weft/traffic.hpp"

namespace weft::tool {

// The rank that computes longest goes to the host that has a free slot and the least to compute, and so on. Returns
// ranks by slot.
[[nodiscard]] std::vector<int32_t> balance_hosts(const Traffic& traffic, const std::vector<int32_t>& hosts);

// From an order on, ranks of the busiest host are exchanged for ranks of others, those first that cost the fewest bytes
// for each second that is gained. The state is kept in which this is least: the share of the bytes that leaves the
// hosts, plus the excess of the busiest host over the mean, as a share of that.
[[nodiscard]] std::vector<int32_t> trade_hosts(const Traffic& traffic, const std::vector<int32_t>& hosts,
                                               const std::vector<int32_t>& ranks);

}  // namespace weft::tool
