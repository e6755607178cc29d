// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Splitting a communicator, also an intercommunicator, by colours.

#include <limits>
#include <vector>

#include "coll/agree/agree.hpp"

namespace weft::coll {

// The colour of ranks that get no communicator.
inline constexpr int64_t no_color = std::numeric_limits<int64_t>::min();

// The ranks of our colour, by their ranks in the job; none: we get no communicator.
struct Split {
  uint32_t context = core::no_context;  // held, when there are ranks
  std::vector<int32_t> ours;            // by key, then by rank in the parent
  std::vector<int32_t> theirs;          // the other side's, of an intercommunicator: a communicator needs both
};

// Returns an error class, see coll/agree/agree.hpp.
[[nodiscard]] int32_t split(Comm& comm, int64_t color, int64_t key, Split& result);

}  // namespace weft::coll
