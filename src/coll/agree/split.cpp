// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/agree/split.hpp"

#include <algorithm>

namespace weft::coll {

namespace {

// A request for a communicator by colour and key, as all ranks see it.
struct SplitRequest {
  uint64_t offer;
  int64_t color;
  int64_t key;
};

// The members of a colour among `size` places from `first` on.
std::vector<int32_t> ranks_of_color(const Founders& founders, const std::vector<SplitRequest>& wishes, int32_t first,
                                    int32_t size, int64_t color) {
  std::vector<int32_t> members;
  for (int32_t p = first; p < first + size; ++p) {
    if (wishes[static_cast<size_t>(p)].color == color) members.push_back(p);
  }
  std::stable_sort(members.begin(), members.end(), [&](int32_t a, int32_t b) {
    return wishes[static_cast<size_t>(a)].key < wishes[static_cast<size_t>(b)].key;
  });
  for (int32_t& p : members) p = founders.job_rank(p);
  return members;
}

}  // namespace

int32_t split(Comm& comm, int64_t color, int64_t key, Split& result) {
  const Founders founders = founders_of(comm);
  const SplitRequest ours = {founders.offer(), color, key};
  std::vector<SplitRequest> wishes(static_cast<size_t>(founders.size));
  if (const int32_t error = gather_all(comm, &ours, sizeof ours, wishes.data())) return error;
  uint64_t agreed = ours.offer;
  for (const SplitRequest& wish : wishes) agreed = std::min(agreed, wish.offer);
  if (const int32_t error = take_context(founders, ours.offer, agreed, result.context)) return error;
  if (color != no_color) {
    const int32_t first = comm.is_inter() ? founders.our_side() : 0;
    result.ours = ranks_of_color(founders, wishes, first, comm.local_size(), color);
    if (comm.is_inter()) result.theirs = ranks_of_color(founders, wishes, founders.other_side(), comm.size, color);
  }
  if (color == no_color || (comm.is_inter() && result.theirs.empty())) {
    core::release_context(result.context);
    result = {};
  }
  return core::no_error;
}

}  // namespace weft::coll
