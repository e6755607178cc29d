// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heat {

// A picture in memory, 8 bits each of red, green and blue.
class Picture {
 public:
  Picture(int width, int height)
      : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * height * 3) {}

  // Draws an n x n field of temperatures as a square of `side` points with its left upper corner at (x, y); row 0 of
  // the field is at the bottom. Cold is -limit, hot is limit; thin lines follow equal temperatures.
  void draw(const double* field, int n, double limit, int x, int y, int side);

  // Writes a PNG file; false when the file cannot be written (errno says why).
  [[nodiscard]] bool save(const char* path) const;

 private:
  int width_;
  int height_;
  std::vector<uint8_t> pixels_;
};

}  // namespace heat
