// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "domain.hpp"

#include <algorithm>
#include <cstring>

namespace mhd {

Patch::Patch(int dimensions, int cells) : dims(dimensions), n{cells, cells, cells}, below{low, low, low} {
  std::array<std::ptrdiff_t, 3> size{};
  if (dims == 2) n[2] = 1, below[2] = 0;
  for (int d = 0; d < 3; ++d) size[d] = d < dims ? low + n[d] + high : 1;
  stride = {1, size[0], size[0] * size[1]};
  volume = static_cast<std::size_t>(size[0] * size[1] * size[2]);
}

Domain::Domain(int dims, int patch_cells, const Three& patches, const std::array<double, 3>& lengths, int ranks,
               bool moving)
    : patch(dims, patch_cells), length(lengths), spacing{}, count_(patches) {
  const int all = count_[0] * count_[1] * count_[2];
  for (int r = 0; r <= ranks; ++r) first_.push_back(static_cast<int>(static_cast<int64_t>(all) * r / ranks));
  const int equal = (all + ranks - 1) / ranks;
  most_ = moving ? std::min(2 * equal, all - ranks + 1) : equal;
  for (int d = 0; d < 3; ++d) spacing[d] = length[d] / cells(d);
  const int depth = dims == 3 ? 1 : 0;
  for (int z = -depth; z <= depth; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        if (x != 0 || y != 0 || z != 0) offsets_.push_back({x, y, z});
      }
    }
  }
}

Three Domain::position(int of) const {
  return {of % count_[0], of / count_[0] % count_[1], of / count_[0] / count_[1]};
}

int Domain::rank_of(int of) const {
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), of) - first_.begin()) - 1;
}

int Domain::neighbour(int of, int direction) const {
  Three at = position(of);
  for (int d = 0; d < 3; ++d) at[d] = (at[d] + offsets_[direction][d] + count_[d]) % count_[d];
  return at[0] + count_[0] * (at[1] + count_[1] * at[2]);
}

Box Domain::ghosts(int direction) const {
  Box box{};
  for (int d = 0; d < 3; ++d) {
    const int side = offsets_[direction][d], n = patch.n[d];
    box.from[d] = side < 0 ? -Patch::low : side > 0 ? n : 0;
    box.to[d] = side < 0 ? 0 : side > 0 ? n + Patch::high : n;
  }
  return box;
}

Box Domain::repeated(int direction) const {
  Box box = ghosts(direction);
  for (int d = 0; d < 3; ++d) {
    const int shift = offsets_[direction][d] * patch.n[d];
    box.from[d] -= shift;
    box.to[d] -= shift;
  }
  return box;
}

namespace {

template <class Row>
void rows_of(const Patch& patch, const Box& box, Row row) {
  for (int f = 0; f < fields; ++f) {
    for (int k = box.from[2]; k < box.to[2]; ++k) {
      for (int j = box.from[1]; j < box.to[1]; ++j) {
        row(patch.at(box.from[0], j, k) + static_cast<std::ptrdiff_t>(patch.volume) * f);
      }
    }
  }
}

}  // namespace

void pack(const Patch& patch, const Box& box, const double* state, double* out) {
  const auto width = static_cast<std::size_t>(box.to[0] - box.from[0]);
  rows_of(patch, box, [&](std::ptrdiff_t at) {
    std::memcpy(out, state + at, width * sizeof *out);
    out += width;
  });
}

void unpack(const Patch& patch, const Box& box, const double* in, double* state) {
  const auto width = static_cast<std::size_t>(box.to[0] - box.from[0]);
  rows_of(patch, box, [&](std::ptrdiff_t at) {
    std::memcpy(state + at, in, width * sizeof *in);
    in += width;
  });
}

}  // namespace mhd
