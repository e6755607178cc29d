// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/tally.hpp"

namespace weft::io {

void Tally::access(bool writes, const AccessRecord& one) {
  std::lock_guard guard(lock_);
  AccessTally& all = side(writes);
  ++all.accesses;
  all.bytes += one.bytes;
  all.collective += one.collective ? 1 : 0;
  all.two_phase += one.two_phase ? 1 : 0;
  all.with_gaps += one.end - one.first > one.bytes ? 1 : 0;
  ++all.sizes[AccessTally::size_class(one.bytes)];
  PastAccess& past = pasts_[writes ? 1 : 0];
  past.reach.low = std::min(past.reach.low, one.first);
  past.reach.high = std::max(past.reach.high, one.end);
  const int64_t stride = one.first - past.first;
  bool tentative = false;
  if (past.first < 0) {
    // Nothing to compare with.
  } else if (one.first == past.end) {
    ++all.sequential;
  } else if (stride == past.stride) {
    ++all.strided;
    if (past.tentative) {
      --all.random;
      ++all.strided;
    }
    past.reach.stride = stride;
  } else {
    ++all.random;
    tentative = true;
  }
  past.tentative = tentative;
  past.stride = past.first < 0 ? 0 : stride;
  past.first = one.first;
  past.end = one.end;
}

void Tally::call(bool writes, int64_t offset, int64_t bytes, uint64_t ns) {
  constexpr int64_t block = 4096;
  std::lock_guard guard(lock_);
  AccessTally& all = side(writes);
  ++all.calls;
  all.call_bytes += bytes;
  all.aligned += offset % block == 0 && bytes % block == 0 ? 1 : 0;
  all.disk_ns += static_cast<int64_t>(ns);
}

void Tally::exchange(uint64_t ns) {
  std::lock_guard guard(lock_);
  numbers_.exchange_ns += static_cast<int64_t>(ns);
}

}  // namespace weft::io
