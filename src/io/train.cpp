// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/train.hpp"

#include <algorithm>

namespace weft::io {

void add_run(std::vector<Train>& trains, const Run& run) {
  if (!trains.empty()) {
    Train& last = trains.back();
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
  trains.push_back({run.offset, run.bytes, 0, 1});
}

bool are_sound(const std::vector<Train>& trains, int64_t low, int64_t high) {
  int64_t at = low;
  for (const Train& train : trains) {
    if (train.offset < at || train.bytes <= 0 || train.count <= 0 || train.offset >= high) return false;
    if (train.count > 1 && train.stride < train.bytes) return false;
    int64_t span = 0;
    int64_t end = 0;
    if (__builtin_mul_overflow(train.count - 1, train.stride, &span) ||
        __builtin_add_overflow(train.offset, span, &end) || __builtin_add_overflow(end, train.bytes, &end)) {
      return false;
    }
    if (end > high) return false;
    at = end;
  }
  return true;
}

bool Cursor::next(int64_t limit, Run& run) {
  if (train_ == end_) return false;
  const int64_t offset = train_->offset + index_ * train_->stride + inside_;
  if (offset >= limit) return false;
  const int64_t left = train_->bytes - inside_;
  run = {offset, std::min(left, limit - offset)};
  if (run.bytes < left) {
    inside_ += run.bytes;
    return true;
  }
  inside_ = 0;
  if (++index_ == train_->count) {
    ++train_;
    index_ = 0;
  }
  return true;
}

int64_t Cursor::skip(int64_t limit) {
  int64_t passed = 0;
  while (train_ != end_) {
    if (train_->end() <= limit) {
      passed += (train_->count - index_) * train_->bytes - inside_;
      ++train_;
      index_ = inside_ = 0;
      continue;
    }
    // Whole runs before the limit, without a look at each.
    if (train_->count > 1 && inside_ == 0) {
      const int64_t until = limit - train_->bytes - train_->offset;
      const int64_t whole = until < 0 ? 0 : until / train_->stride + 1;
      if (whole > index_) {
        passed += (whole - index_) * train_->bytes;
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
