// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mhd {

using Three = std::array<int, 3>;  // of x, y, z

// The fields of a cell: density, momentum, energy, and the field on its three lower faces.
constexpr int fields = 8;
enum Field : uint8_t { density = 0, momentum = 1, energy = 4, field = 5 };

// A patch: n cells along each direction that there is, and ghosts around them. A field on faces needs one cell more on
// the upper side. In two dimensions z has one cell and no ghosts.
struct Patch {
  static constexpr int low = 3, high = 4;

  Patch(int dimensions, int cells);

  [[nodiscard]] std::ptrdiff_t at(int i, int j, int k) const {
    return i + below[0] + stride[1] * (j + below[1]) + stride[2] * (k + below[2]);
  }

  int dims;
  Three n;                               // cells of its own
  Three below;                           // ghosts below them
  std::array<std::ptrdiff_t, 3> stride;  // in an array of one field
  std::size_t volume;                    // cells of one field, ghosts included
};

// A box of cells within a patch.
struct Box {
  Three from, to;  // first, and one past the last; 0 is the patch's first own cell
  [[nodiscard]] std::size_t cells() const {
    return static_cast<std::size_t>(to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2]);
  }
};

// The domain: an array of patches, periodic in each direction, spread over the ranks as consecutive ranges. Neighbours
// are known by position; nothing is stored or exchanged to find them.
class Domain {
 public:
  // At first the ranges are equal. `moving`: they may change, to at most twice an equal one.
  Domain(int dims, int patch_cells, const Three& patches, const std::array<double, 3>& lengths, int ranks,
         bool moving = false);

  [[nodiscard]] int patches() const { return count_[0] * count_[1] * count_[2]; }
  [[nodiscard]] const Three& counts() const { return count_; }
  [[nodiscard]] Three position(int of) const;
  [[nodiscard]] int first_of(int rank) const { return first_[rank]; }  // patches of r: first_of(r) to first_of(r + 1)
  [[nodiscard]] int rank_of(int of) const;
  [[nodiscard]] int most() const { return most_; }  // patches that a rank may have
  [[nodiscard]] const std::vector<int>& ranges() const { return first_; }
  // New ranges: the first patch of each rank, and one past the last of all.
  void spread(const std::vector<int>& first) { first_ = first; }
  [[nodiscard]] int cells(int d) const { return count_[d] * patch.n[d]; }

  // Directions to neighbours: 8 or 26. offset(opposite(d)) is -offset(d).
  [[nodiscard]] int directions() const { return static_cast<int>(offsets_.size()); }
  [[nodiscard]] const Three& offset(int direction) const { return offsets_[direction]; }
  [[nodiscard]] int opposite(int direction) const { return directions() - 1 - direction; }
  [[nodiscard]] int neighbour(int of, int direction) const;

  // The ghosts on the side `direction` of a patch, and the cells of the neighbour there that they repeat.
  [[nodiscard]] Box ghosts(int direction) const;
  [[nodiscard]] Box repeated(int direction) const;

  Patch patch;
  std::array<double, 3> length, spacing;

 private:
  Three count_;
  int most_;
  std::vector<int> first_;
  std::vector<Three> offsets_;
};

// Copies the box of all fields to consecutive memory and back. `state` is one patch.
void pack(const Patch& patch, const Box& box, const double* state, double* out);
void unpack(const Patch& patch, const Box& box, const double* in, double* state);

}  // namespace mhd
