// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace weft::coll {

// The part of all elements that a rank reduces.
struct Share {
  int64_t first;
  int64_t count;
};

inline Share share_of(int64_t count, int32_t rank, int32_t ranks) {
  const int64_t first = count * rank / ranks;
  return {first, count * (rank + 1) / ranks - first};
}

}  // namespace weft::coll
