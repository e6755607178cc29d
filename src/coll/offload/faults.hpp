// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// WEFT_OFFLOAD_FAULTS has components refuse and fail, for tests.

#include "coll/offload/offload.hpp"

namespace weft::coll::offload {

struct Faults {
  int64_t alone = -1;   // this rank of a communicator cannot join
  int64_t refuse = -1;  // operations of so many bytes or more
  int64_t fail = -1;    // the operation behind so many of a communicator fails
  int64_t rank = -1;    // on this rank alone

  [[nodiscard]] bool takes(const OffloadOperation& operation) const { return refuse < 0 || operation.bytes() < refuse; }
  [[nodiscard]] bool fail_at(int64_t done, int32_t on) const { return done == fail && (rank < 0 || rank == on); }
};

// When the job starts. False: the setting is wrong.
[[nodiscard]] bool read_faults(base::Problem& problem);
[[nodiscard]] const Faults& faults();

}  // namespace weft::coll::offload
