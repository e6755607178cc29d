// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "picture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <limits>

namespace common {
namespace {

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

// Night blue to fire to near white: the order of brightness is the order of values.
constexpr std::array<std::array<double, 4>, 6> colours = {{
    {0.00, 10, 10, 42},
    {0.22, 46, 30, 128},
    {0.45, 150, 38, 120},
    {0.66, 236, 92, 60},
    {0.85, 252, 190, 70},
    {1.00, 255, 252, 224},
}};

}  // namespace

bool save_png(const char* path, const std::vector<uint8_t>& pixels, int width, int height) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return false;
  PngFile png(file);
  std::vector<uint8_t> header;
  PngFile::put32(header, static_cast<uint32_t>(width));
  PngFile::put32(header, static_cast<uint32_t>(height));
  header.insert(header.end(), {8, 2, 0, 0, 0});  // 8 bits, RGB, the only compression and filter set, not interlaced
  png.chunk("IHDR", header);
  std::vector<uint8_t> raw;
  raw.reserve((static_cast<std::size_t>(width) * 3 + 1) * height);
  for (int r = 0; r < height; ++r) {
    raw.push_back(0);  // the line has no filter
    const auto line = pixels.begin() + static_cast<std::ptrdiff_t>(r) * width * 3;
    raw.insert(raw.end(), line, line + static_cast<std::ptrdiff_t>(width) * 3);
  }
  png.chunk("IDAT", PngFile::stored(raw));
  png.chunk("IEND", {});
  const bool written = std::ferror(file) == 0;
  return std::fclose(file) == 0 && written;
}

bool save_field(const char* path, const std::vector<float>& field, int width, int height) {
  const auto [low, high] = std::minmax_element(field.begin(), field.end());
  const double scale = *high > *low ? 1.0 / (*high - *low) : 0;
  const int zoom = std::max(1, (511 + width) / width);
  std::vector<uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(width) * height * zoom * zoom * 3);
  for (int r = height * zoom - 1; r >= 0; --r) {
    for (int c = 0; c < width * zoom; ++c) {
      const double value = (field[static_cast<std::size_t>(r / zoom) * width + c / zoom] - *low) * scale;
      for (const double part : colour_of(colours, value)) pixels.push_back(static_cast<uint8_t>(part));
    }
  }
  return save_png(path, pixels, width * zoom, height * zoom);
}

// A point is the mean of the cells whose corners it covers, or the cell that it lies in.
void Strip::add(const std::vector<float>& field, int width, int height) {
  height_ = std::max(1, height * width_ / width);
  std::vector<float>& picture = pictures_.emplace_back();
  for (int r = 0; r < height_; ++r) {
    const int low = r * height / height_, high = std::max(low + 1, (r + 1) * height / height_);
    for (int c = 0; c < width_; ++c) {
      const int left = c * width / width_, right = std::max(left + 1, (c + 1) * width / width_);
      double sum = 0;
      for (int j = low; j < high; ++j) {
        for (int i = left; i < right; ++i) sum += field[static_cast<std::size_t>(j) * width + i];
      }
      picture.push_back(static_cast<float>(sum / (high - low) / (right - left)));
    }
  }
}

bool Strip::save(const char* path) const {
  float least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
  for (const std::vector<float>& one : pictures_) {
    const auto [low, high] = std::minmax_element(one.begin(), one.end());
    least = std::min(least, *low);
    most = std::max(most, *high);
  }
  const double scale = most > least ? 1.0 / (most - least) : 0;
  const int count = static_cast<int>(pictures_.size()), width = std::max(1, count * (width_ + gap_) - gap_);
  std::vector<uint8_t> pixels(static_cast<std::size_t>(width) * std::max(1, height_) * 3, 255);
  for (int n = 0; n < count; ++n) {
    for (int r = 0; r < height_; ++r) {
      std::size_t to =
          (static_cast<std::size_t>(height_ - 1 - r) * width + static_cast<std::size_t>(n) * (width_ + gap_)) * 3;
      for (int c = 0; c < width_; ++c) {
        const float value = pictures_[static_cast<std::size_t>(n)][static_cast<std::size_t>(r) * width_ + c];
        for (const double part : colour_of(colours, (value - least) * scale)) pixels[to++] = static_cast<uint8_t>(part);
      }
    }
  }
  return save_png(path, pixels, width, std::max(1, height_));
}

}  // namespace common
