// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace common {

// Writes 8-bit RGB points, rows from the top, as a PNG file; false when it cannot be written (errno says why).
[[nodiscard]] bool save_png(const char* path, const std::vector<uint8_t>& pixels, int width, int height);

// A field of width x height values, row 0 at the bottom, from dark to bright, as a PNG file of at least 512 points in
// width. The least value is dark, the largest bright.
[[nodiscard]] bool save_field(const char* path, const std::vector<float>& field, int width, int height);

}  // namespace common
