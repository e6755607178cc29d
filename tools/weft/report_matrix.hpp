// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The bytes between ranks as a picture and as a table, for the page of `weft report`.

#include <string>
#include <vector>

#include "weft/traffic.hpp"

namespace weft::tool {

// The sides of the picture, at most.
inline constexpr int32_t most_matrix_cells = 64;

struct SentCell {
  int64_t bytes = 0;
  double messages = 0;  // 0: the file does not say
};

// Sums over groups of ranks that follow each other. Messages of a rank to itself are left out.
struct SentMatrix {
  int32_t ranks = 0;
  int32_t each = 1;   // ranks in a group; the last may have fewer
  int32_t side = 0;   // groups
  int64_t least = 0;  // bytes of a cell that has some; 0: no cell has any
  int64_t most = 0;
  std::vector<SentCell> cells;  // by sender, then receiver

  [[nodiscard]] const SentCell& at(int32_t from, int32_t to) const {
    return cells[static_cast<size_t>(from) * static_cast<size_t>(side) + static_cast<size_t>(to)];
  }
};

[[nodiscard]] SentMatrix sent_matrix(const Traffic& traffic);

// Where the bytes of a cell stand on the logarithmic scale between the least and the most: 0 to 1.
[[nodiscard]] double place_on_scale(const SentMatrix& matrix, double bytes);

// SVG: the cells that have bytes, each with a title, numbers of ranks along the sides, and the scale below.
[[nodiscard]] std::string matrix_picture(const SentMatrix& matrix);

// HTML that is folded until a reader opens it: the cells with the most bytes.
[[nodiscard]] std::string matrix_table(const SentMatrix& matrix);

}  // namespace weft::tool
