// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// One rank's accesses to a file, counted where WEFT_IO_STATS is on: accesses as the program asked for them, calls of
// the system that they became, times.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>

#include "base/lock.hpp"

namespace weft::io {

// Reads, or writes. Members are sums over accesses, and may be added up over ranks.
struct AccessTally {
  static constexpr int size_classes = 40;
  // A class holds accesses of 2^k up to 2^(k+1) - 1 bytes; the last one larger ones too.
  [[nodiscard]] static int size_class(int64_t bytes) {
    return bytes <= 1 ? 0
                      : std::min(static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes))) - 1, size_classes - 1);
  }

  int64_t accesses = 0;  // of the program that move data
  int64_t bytes = 0;
  int64_t collective = 0;  // of these accesses
  int64_t two_phase = 0;   // of the collective ones: data were exchanged first
  int64_t with_gaps = 0;   // more than one run of the file
  // Where an access begins: at the end of the one before; as far from its beginning as that from the beginning of the
  // one before it; elsewhere. The first is none of these.
  int64_t sequential = 0;
  int64_t strided = 0;
  int64_t random = 0;
  int64_t sizes[size_classes] = {};
  int64_t calls = 0;  // of the system
  int64_t call_bytes = 0;
  int64_t aligned = 0;  // calls that begin and end at multiples of 4096
  int64_t disk_ns = 0;
};
constexpr int side_numbers = sizeof(AccessTally) / sizeof(int64_t);

struct AccessRecord {
  int64_t first;  // offset of the first byte
  int64_t end;    // behind the last
  int64_t bytes;  // of data
  bool collective;
  bool two_phase;
};

// Any thread.
class Tally {
 public:
  struct Numbers {
    AccessTally reads;
    AccessTally writes;
    int64_t exchange_ns = 0;  // of messages of collective accesses
  };
  // The range of the file, and the usual distance of strided accesses.
  struct FileRange {
    int64_t low = INT64_MAX;
    int64_t high = 0;
    int64_t stride = 0;
  };

  void access(bool writes, const AccessRecord& one);
  void call(bool writes, int64_t offset, int64_t bytes, uint64_t ns);
  void exchange(uint64_t ns);

  // No access is under way.
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }
  [[nodiscard]] const FileRange& reach(bool writes) const { return pasts_[writes ? 1 : 0].reach; }
  [[nodiscard]] uint64_t opened_ns() const { return opened_ns_; }
  void opened(uint64_t ns) { opened_ns_ = ns; }

 private:
  struct PastAccess {
    FileRange reach;
    int64_t first = -1;  // of the access before
    int64_t end = 0;
    int64_t stride = 0;
    bool tentative = false;  // the access before began a stride, should another follow at that distance
  };
  AccessTally& side(bool writes) { return writes ? numbers_.writes : numbers_.reads; }

  base::Lock lock_;
  Numbers numbers_;
  PastAccess pasts_[2];
  uint64_t opened_ns_ = 0;
};

}  // namespace weft::io
