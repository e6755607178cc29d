// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/agree/route.hpp"

namespace weft::coll {

// Sizes first, so that all know what to receive.
void route_step(Channel& channel, const Founders& ranks, const std::vector<char>& out, int32_t to,
                const int32_t (&from)[2], std::vector<char>& in) {
  const uint64_t leaving = out.size();
  uint64_t coming[2] = {0, 0};
  channel.send(bytes_at(&leaving, sizeof leaving), ranks[to]);
  for (int i = 0; i < 2; ++i) {
    if (from[i] >= 0) channel.receive(bytes_at(&coming[i], sizeof coming[i]), ranks[from[i]]);
  }
  channel.fence();
  if (leaving > 0) channel.send(bytes_at(out.data(), leaving), ranks[to]);
  size_t end = in.size();
  in.resize(end + coming[0] + coming[1]);
  for (int i = 0; i < 2; ++i) {
    if (coming[i] > 0) channel.receive(bytes_at(in.data() + end, coming[i]), ranks[from[i]]);
    end += coming[i];
  }
  channel.fence();
}

}  // namespace weft::coll
