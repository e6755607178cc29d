// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The way of reports to rank 0: up a binomial tree. A rank adds the reports of those below it to its own, one after the
// other, and sends the sum. So it holds its own and one more, and the last rank to write waits for log2(ranks) others.

#include <cstdint>
#include <string>

#include "stats/report.hpp"

namespace weft::stats {

// `receive` takes the rank that it asks, and gives the bytes of its report; empty, or other bytes: that part is left
// out. `send` takes the rank and the bytes. True: this is rank 0, and the report is whole.
template <class Receive, class Send>
bool gather(int32_t rank, int32_t ranks, Report& report, Receive&& receive, Send&& send) {
  for (int64_t step = 1; step < ranks; step *= 2) {
    if ((rank & step) != 0) {
      send(static_cast<int32_t>(rank - step), report.bytes());
      return false;
    }
    if (rank + step >= ranks) continue;
    Report theirs;
    if (theirs.read(receive(static_cast<int32_t>(rank + step)))) report.add(theirs);
  }
  return true;
}

}  // namespace weft::stats
