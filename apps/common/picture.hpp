// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace common {

// Writes 8-bit RGB points, rows from the top, as a PNG file; false when it cannot be written (errno says why).
[[nodiscard]] bool save_png(const char* path, const std::vector<uint8_t>& pixels, int width, int height);

// A colour for a value: the red, green and blue of the two rows of a scale (value, red, green, blue; rising) around it,
// in between by distance. Beyond the ends the scale goes on.
template <std::size_t n>
std::array<double, 3> colour_of(const std::array<std::array<double, 4>, n>& scale, double value) {
  std::size_t above = 1;
  while (above + 1 < n && scale[above][0] < value) ++above;
  const auto &low = scale[above - 1], &high = scale[above];
  const double part = (value - low[0]) / (high[0] - low[0]);
  return {low[1] + part * (high[1] - low[1]), low[2] + part * (high[2] - low[2]), low[3] + part * (high[3] - low[3])};
}

// A field of width x height values, row 0 at the bottom, from dark to bright, as a PNG file of at least 512 points in
// width. The least value is dark, the largest bright.
[[nodiscard]] bool save_field(const char* path, const std::vector<float>& field, int width, int height);

// A film strip: small pictures of such fields from left to right, of one scale of colours.
class Strip {
 public:
  void add(const std::vector<float>& field, int width, int height);
  [[nodiscard]] bool save(const char* path) const;

 private:
  static constexpr int width_ = 160, gap_ = 4;  // in points: of a picture, and between two
  int height_ = 0;
  std::vector<std::vector<float>> pictures_;
};

}  // namespace common
