// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <vector>

#include "base/crc32c.hpp"

namespace weft::base {
namespace {

// RFC 3720, B.4, as the bytes lie on the wire.
TEST(Crc32c, IsTheOneOfTheStandard) {
  std::vector<unsigned char> data(32, 0);
  EXPECT_EQ(crc32c(data.data(), data.size()), 0x8a9136aau);
  data.assign(32, 0xff);
  EXPECT_EQ(crc32c(data.data(), data.size()), 0x62a8ab43u);
  for (unsigned char i = 0; i < 32; ++i) data[i] = i;
  EXPECT_EQ(crc32c(data.data(), data.size()), 0x46dd794eu);
  EXPECT_EQ(crc32c("123456789", 9), 0xe3069283u);
  EXPECT_EQ(crc32c(nullptr, 0), 0u);
}

// Data have every length and place, and are taken in any pieces.
TEST(Crc32c, IsTheSameByInstructionAndByTable) {
  std::vector<unsigned char> data(20000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * i >> 5);
  for (size_t bytes = 0; bytes < 19000; bytes += bytes < 1000 ? 1 : 97) {
    const unsigned char* at = data.data() + bytes % 9;
    ASSERT_EQ(crc32c(at, bytes), crc32c_by_table(at, bytes)) << bytes;
  }
}

}  // namespace
}  // namespace weft::base
