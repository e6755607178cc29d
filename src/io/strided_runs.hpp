// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Runs of a file in the form in which ranks tell them to each other: equal runs at equal distances are one group, so
// that regular patterns take few bytes however many runs they have. Groups are rising and do not overlap themselves.

#include <cstdint>
#include <vector>

#include "io/view.hpp"

namespace weft::io {

struct StridedRuns {
  int64_t offset = 0;  // of the first run
  int64_t bytes = 0;   // of each run, at least 1
  int64_t stride = 0;  // from one run to the next
  int64_t count = 0;   // of runs, at least 1

  [[nodiscard]] int64_t end() const { return offset + (count - 1) * stride + bytes; }
};
static_assert(sizeof(StridedRuns) == 32);

// Appends a run that does not begin before the end of the last one.
void add_run(std::vector<StridedRuns>& groups, const Run& run);

// Whether groups from another rank are rising and inside [low, high).
[[nodiscard]] bool are_sound(const std::vector<StridedRuns>& groups, int64_t low, int64_t high);

// A place in a list of groups, which moves forward.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(const std::vector<StridedRuns>& groups)
      : group_(groups.data()), end_(groups.data() + groups.size()) {}

  // The next run, cut off at `limit`; false: the rest lies behind it.
  bool next(int64_t limit, Run& run);

  // Moves to the first byte at or behind `limit`; the bytes passed.
  int64_t skip(int64_t limit);

 private:
  const StridedRuns* group_ = nullptr;
  const StridedRuns* end_ = nullptr;
  int64_t index_ = 0;   // of the run in the group
  int64_t inside_ = 0;  // bytes of it that are passed
};

}  // namespace weft::io
