// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Items that any rank has for any other, when no rank knows how many each will get: a crystal router (Fox et al.,
// Solving Problems on Concurrent Processors, 1988, chapter 22). The ranks are halved again and again; each sends what
// is for the other half to one partner there. An item moves at most ceil(log2(size)) times, a rank sends as many
// messages, or twice as many, and no rank keeps a table of all others.

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/copy.hpp"
#include "coll/agree/agree.hpp"

namespace weft::coll {

// Moves items of `Item`, a plain struct with a member `target` (a place), to their targets, collectively.
// The order of those that come is not defined. Returns an error class.
template <class Item>
[[nodiscard]] int32_t route(const Founders& ranks, std::vector<Item>& items);

// Sends `out` to place `to` and appends the data from each of the places `from` (-1: none) to `in`.
void route_step(Channel& channel, const Founders& ranks, const std::vector<char>& out, int32_t to,
                const int32_t (&from)[2], std::vector<char>& in);

template <class Item>
int32_t route(const Founders& ranks, std::vector<Item>& items) {
  Channel channel(ranks.parent, ranks.context, ranks.tag);
  int32_t first = 0;
  int32_t end = ranks.size;
  while (end - first > 1) {
    const int32_t lower = (end - first + 1) / 2;  // ranks of the lower half; the upper one may have one less
    const int32_t middle = first + lower;
    const bool below = ranks.place < middle;
    // The last rank of a longer lower half has no partner of its own: it sends to the last of the upper half, whose
    // answer is for its own partner.
    int32_t to = below ? ranks.place + lower : ranks.place - lower;
    int32_t from[2] = {to, -1};
    if (to == end) {
      to = end - 1;
      from[0] = -1;
    } else if (!below && ranks.place == end - 1 && 2 * lower > end - first) {
      from[1] = middle - 1;
    }
    std::vector<char> out;
    std::vector<char> in;
    std::vector<Item> kept;
    for (const Item& item : items) {
      if ((item.target < middle) == below) {
        kept.push_back(item);
      } else {
        const auto* bytes = reinterpret_cast<const char*>(&item);
        out.insert(out.end(), bytes, bytes + sizeof item);
      }
    }
    route_step(channel, ranks, out, to, from, in);
    if (const int32_t error = channel.finish()) return error;
    const size_t came = in.size() / sizeof(Item);
    const size_t stayed = kept.size();
    kept.resize(stayed + came);
    if (came > 0) base::copy(kept.data() + stayed, in.data(), came * sizeof(Item));
    items.swap(kept);
    (below ? end : first) = middle;
  }
  return core::no_error;
}

}  // namespace weft::coll
