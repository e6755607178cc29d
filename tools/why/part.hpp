// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A job on several hosts: the part that each host saw, as text that travels, and all parts together.

#include <string>
#include <string_view>
#include <vector>

#include "why/snapshot.hpp"

namespace weft::why {

// Lines, with the pages as they were found.
[[nodiscard]] std::string as_part(const Snapshot& snapshot);

// Takes all parts in a host's answer, which is checked like any text of unknown origin; lines that are of no part are
// passed over. False: a part is damaged.
[[nodiscard]] bool read_parts(std::string_view text, std::vector<Snapshot>& parts);

// Parts of the same job as one snapshot for each job. Hosts look at different times, so each is asked twice, and
// `later` are the answers of the time after all had given the first: a wait counts where a host found it both times.
// Waits that count held all together, at the moment between the two.
[[nodiscard]] std::vector<Snapshot> join_parts(const std::vector<Snapshot>& earlier, std::vector<Snapshot> later);

}  // namespace weft::why
