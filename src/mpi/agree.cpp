// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agree.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/p2p.hpp"

namespace weft::mpi {
namespace {

// Sends to the member `distance` before us and receives from the one as far behind us, or the other way round.
int32_t swap(const Team& team, int32_t distance, const void* out, int64_t out_bytes, void* in, int64_t in_bytes) {
  int32_t to = (team.rank - distance + team.size) % team.size;
  int32_t from = (team.rank + distance) % team.size;
  Type& byte = *type_of(MPI_BYTE);
  return core::send_receive(team.parent, team.parent.collective_context(), out, out_bytes, byte, team.parent_rank(to),
                            in, in_bytes, byte, team.parent_rank(from), team.tag);
}

}  // namespace

// Dissemination: after each round a member knows the smallest of twice as many members; meeting a value twice does no
// harm, so the size need not be a power of two.
int32_t agree_on_smallest(const Team& team, uint32_t& value) {
  for (int64_t distance = 1; distance < team.size; distance *= 2) {
    uint32_t other = 0;
    int32_t error = swap(team, static_cast<int32_t>(distance), &value, sizeof value, &other, sizeof other);
    if (error != core::no_error) return error;
    value = std::min(value, other);
  }
  return core::no_error;
}

// Bruck's algorithm: blocks are collected in the order of our successors, then turned to the order of ranks.
int32_t gather_all(const Team& team, const void* mine, int64_t bytes, void* all) {
  auto width = static_cast<size_t>(bytes);
  std::vector<char> blocks(width * static_cast<size_t>(team.size));
  memcpy(blocks.data(), mine, width);
  for (int64_t have = 1; have < team.size; have *= 2) {
    int64_t moved = std::min(have, team.size - have) * bytes;
    int32_t error = swap(team, static_cast<int32_t>(have), blocks.data(), moved, blocks.data() + have * bytes, moved);
    if (error != core::no_error) return error;
  }
  size_t ours = width * static_cast<size_t>(team.rank);
  size_t behind = blocks.size() - ours;
  memcpy(static_cast<char*>(all) + ours, blocks.data(), behind);
  memcpy(all, blocks.data() + behind, ours);
  return core::no_error;
}

}  // namespace weft::mpi
