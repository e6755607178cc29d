// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/direct.hpp"

#include <algorithm>

namespace weft::io {

NextCall way_of(int fd, const Direct* direct, bool writes, const void* memory, int64_t offset, int64_t bytes) {
  constexpr int64_t most_at_once = int64_t{1} << 30;  // Linux moves 2 GiB less a page at most
  const int64_t most = std::min(bytes, most_at_once);
  if (direct == nullptr || !direct->moves(writes)) return {fd, static_cast<size_t>(most)};
  const int64_t before = (Direct::block - offset % Direct::block) % Direct::block;
  if (before != 0 || most < Direct::block)
    return {fd, static_cast<size_t>(before != 0 ? std::min(before, most) : most)};
  const bool copied = reinterpret_cast<uintptr_t>(memory) % Direct::block != 0;
  const int64_t whole = most - most % Direct::block;
  return {direct->descriptor.number(), static_cast<size_t>(copied ? std::min(whole, Direct::copied_at_once) : whole),
          true, copied};
}

}  // namespace weft::io
