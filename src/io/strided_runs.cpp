// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/strided_runs.hpp"

#include <algorithm>

namespace weft::io {

void add_run(std::vector<StridedRuns>& groups, const Run& run) {
  if (!groups.empty()) {
    StridedRuns& last = groups.back();
    if (last.count == 1 && last.end() == run.offset) {
      last.bytes += run.bytes;
      return;
    }
    if (last.bytes == run.bytes && (last.count == 1 || run.offset == last.offset + last.count * last.stride)) {
      if (last.count == 1) last.stride = run.offset - last.offset;
      ++last.count;
      return;
    }
  }
  groups.push_back({run.offset, run.bytes, 0, 1});
}

bool are_sound(const std::vector<StridedRuns>& groups, int64_t low, int64_t high) {
  int64_t at = low;
  for (const StridedRuns& group : groups) {
    if (group.offset < at || group.bytes <= 0 || group.count <= 0 || group.offset >= high) return false;
    if (group.count > 1 && group.stride < group.bytes) return false;
    int64_t span = 0;
    int64_t end = 0;
    if (__builtin_mul_overflow(group.count - 1, group.stride, &span) ||
        __builtin_add_overflow(group.offset, span, &end) || __builtin_add_overflow(end, group.bytes, &end)) {
      return false;
    }
    if (end > high) return false;
    at = end;
  }
  return true;
}

bool Cursor::next(int64_t limit, Run& run) {
  if (group_ == end_) return false;
  const int64_t offset = group_->offset + index_ * group_->stride + inside_;
  if (offset >= limit) return false;
  const int64_t left = group_->bytes - inside_;
  run = {offset, std::min(left, limit - offset)};
  if (run.bytes < left) {
    inside_ += run.bytes;
    return true;
  }
  inside_ = 0;
  if (++index_ == group_->count) {
    ++group_;
    index_ = 0;
  }
  return true;
}

int64_t Cursor::skip(int64_t limit) {
  int64_t passed = 0;
  while (group_ != end_) {
    if (group_->end() <= limit) {
      passed += (group_->count - index_) * group_->bytes - inside_;
      ++group_;
      index_ = inside_ = 0;
      continue;
    }
    // Whole runs before the limit are skipped at once, without a look at each.
    if (group_->count > 1 && inside_ == 0) {
      const int64_t until = limit - group_->bytes - group_->offset;
      const int64_t whole = until < 0 ? 0 : until / group_->stride + 1;
      if (whole > index_) {
        passed += (whole - index_) * group_->bytes;
        index_ = whole;
      }
    }
    Run run;
    if (!next(limit, run)) break;
    passed += run.bytes;
  }
  return passed;
}

}  // namespace weft::io
