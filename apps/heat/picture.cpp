// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace heat {
namespace {

// Night blue, white-blue, near black in the middle would hide the weak spots: so a dark neutral, then fire.
constexpr std::array<std::array<double, 4>, 9> colours = {{
    {-1.00, 196, 240, 255},
    {-0.60, 60, 150, 235},
    {-0.25, 28, 58, 140},
    {0.00, 14, 12, 34},
    {0.18, 84, 18, 88},
    {0.38, 180, 44, 72},
    {0.60, 240, 108, 32},
    {0.82, 252, 196, 62},
    {1.00, 255, 252, 224},
}};

std::array<double, 3> colour(double value) {
  value = std::clamp(value, -1.0, 1.0);
  size_t above = 1;
  while (above + 1 < colours.size() && colours[above][0] < value) ++above;
  const auto& low = colours[above - 1];
  const auto& high = colours[above];
  const double part = (value - low[0]) / (high[0] - low[0]);
  return {low[1] + part * (high[1] - low[1]), low[2] + part * (high[2] - low[2]), low[3] + part * (high[3] - low[3])};
}

// Between the field's points, bilinear; outside them the edge's value, which is near zero anyway.
double sample(const double* field, int n, double row, double column) {
  row = std::clamp(row, 0.0, n - 1.0);
  column = std::clamp(column, 0.0, n - 1.0);
  const int i = std::min(static_cast<int>(row), std::max(n - 2, 0)),
            j = std::min(static_cast<int>(column), std::max(n - 2, 0));
  const double y = row - i, x = column - j;
  const int down = std::min(i + 1, n - 1), right = std::min(j + 1, n - 1);
  const auto at = [&](int a, int b) { return field[static_cast<std::size_t>(a) * n + b]; };
  return (1 - y) * ((1 - x) * at(i, j) + x * at(i, right)) + y * ((1 - x) * at(down, j) + x * at(down, right));
}

// PNG, ISO/IEC 15948: chunks of length, type, data and CRC-32; the data is a zlib stream, here of stored blocks, which
// need no compressor.
class PngFile {
 public:
  explicit PngFile(std::FILE* file) : file_(file) {
    for (uint32_t n = 0; n < 256; ++n) {
      uint32_t c = n;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xEDB88320U ^ (c >> 1) : c >> 1;
      table_[n] = c;
    }
    static constexpr uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    std::fwrite(signature, 1, sizeof signature, file_);
  }

  void chunk(const char* type, const std::vector<uint8_t>& data) {
    std::vector<uint8_t> bytes(type, type + 4);
    bytes.insert(bytes.end(), data.begin(), data.end());
    uint32_t crc = 0xFFFFFFFFU;
    for (const uint8_t byte : bytes) crc = table_[(crc ^ byte) & 0xFF] ^ (crc >> 8);
    std::vector<uint8_t> length, check;
    put32(length, static_cast<uint32_t>(data.size()));
    put32(check, crc ^ 0xFFFFFFFFU);
    std::fwrite(length.data(), 1, length.size(), file_);
    std::fwrite(bytes.data(), 1, bytes.size(), file_);
    std::fwrite(check.data(), 1, check.size(), file_);
  }

  static void put32(std::vector<uint8_t>& out, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<uint8_t>(value >> shift));
  }

  // RFC 1950 and 1951: header, blocks of at most 65535 stored bytes, Adler-32.
  static std::vector<uint8_t> stored(const std::vector<uint8_t>& raw) {
    std::vector<uint8_t> out = {0x78, 0x01};
    uint32_t a = 1, b = 0;
    for (size_t at = 0; at < raw.size();) {
      const size_t part = std::min<size_t>(raw.size() - at, 65535);
      out.push_back(at + part == raw.size() ? 1 : 0);
      for (const size_t value : {part, ~part}) {
        out.push_back(static_cast<uint8_t>(value));
        out.push_back(static_cast<uint8_t>(value >> 8));
      }
      for (size_t i = 0; i < part; ++i, ++at) {
        out.push_back(raw[at]);
        a = (a + raw[at]) % 65521;
        b = (b + a) % 65521;
      }
    }
    put32(out, b << 16 | a);
    return out;
  }

 private:
  std::FILE* file_;
  std::array<uint32_t, 256> table_;
};

}  // namespace

void Picture::draw(const double* field, int n, double limit, int x, int y, int side) {
  constexpr double lines = 12;  // equal temperatures between zero and the limit
  for (int r = 0; r < side; ++r) {
    for (int c = 0; c < side; ++c) {
      const double row = (side - 0.5 - r) * n / side - 0.5, column = (c + 0.5) * n / side - 0.5;
      const double value = sample(field, n, row, column) / limit;
      auto rgb = colour(value);
      // A line lies where the band changes between neighbours; half a field point looks far enough.
      const double next = static_cast<double>(n) / side;
      const auto band = [&](double v) { return std::floor(v * lines + 0.5); };
      const bool line = band(value) != band(sample(field, n, row, column + next) / limit) ||
                        band(value) != band(sample(field, n, row - next, column) / limit);
      const size_t at = 3 * (static_cast<std::size_t>(y + r) * width_ + x + c);
      for (int k = 0; k < 3; ++k) pixels_[at + k] = static_cast<uint8_t>(line ? rgb[k] * 0.72 + 255 * 0.06 : rgb[k]);
    }
  }
}

bool Picture::save(const char* path) const {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return false;
  PngFile png(file);
  std::vector<uint8_t> header;
  PngFile::put32(header, static_cast<uint32_t>(width_));
  PngFile::put32(header, static_cast<uint32_t>(height_));
  header.insert(header.end(), {8, 2, 0, 0, 0});  // 8 bits, RGB, the only compression and filter set, not interlaced
  png.chunk("IHDR", header);
  std::vector<uint8_t> raw;
  raw.reserve((static_cast<std::size_t>(width_) * 3 + 1) * height_);
  for (int r = 0; r < height_; ++r) {
    raw.push_back(0);  // filter: none
    const auto line = pixels_.begin() + static_cast<std::ptrdiff_t>(r) * width_ * 3;
    raw.insert(raw.end(), line, line + static_cast<std::ptrdiff_t>(width_) * 3);
  }
  png.chunk("IDAT", PngFile::stored(raw));
  png.chunk("IEND", {});
  const bool written = std::ferror(file) == 0;
  return std::fclose(file) == 0 && written;
}

}  // namespace heat
