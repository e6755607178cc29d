// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>

#include "boot/connect/packet.hpp"

namespace weft::boot {
namespace {

TEST(Packet, FieldsComeBackInOrder) {
  Packet packet;
  packet.put("spawn").put(-3).put("").put(INT64_MAX);
  Packet got(packet.bytes());
  EXPECT_EQ(got.take_text(), "spawn");
  EXPECT_EQ(got.take_number(-5, 5), -3);
  EXPECT_EQ(got.take_text(), "");
  EXPECT_EQ(got.take_number(0, INT64_MAX), INT64_MAX);
  EXPECT_FALSE(got.is_bad());
  EXPECT_EQ(got.take_text(), "");
  EXPECT_TRUE(got.is_bad()) << "there is no fifth";
}

TEST(Packet, NumbersOutOfRangeAndTextsAreNoNumbers) {
  Packet packet;
  packet.put(7).put("seven").put(1);
  Packet low(packet.bytes());
  EXPECT_EQ(low.take_number(8, 9), 0);
  EXPECT_TRUE(low.is_bad());
  Packet text(packet.bytes());
  EXPECT_EQ(text.take_number(0, 9), 7);
  EXPECT_EQ(text.take_number(INT64_MIN, INT64_MAX), 0);
  EXPECT_TRUE(text.is_bad());
  EXPECT_EQ(text.take_number(0, 9), 0) << "bad from there on";
}

TEST(Packet, ComesWholeOrNotAtAll) {
  Packet packet;
  packet.put("one").put(2);
  const std::string frame = packet.framed() + packet.framed();
  std::string received;
  int whole = 0;
  for (const char byte : frame) {
    received.push_back(byte);
    Packet got;
    bool bad = false;
    if (!Packet::unframe(received, got, bad)) continue;
    EXPECT_EQ(got.bytes(), packet.bytes());
    ++whole;
  }
  EXPECT_EQ(whole, 2);
  EXPECT_TRUE(received.empty());
}

TEST(Packet, ALengthThatNoPacketHasIsBad) {
  const uint32_t length = Packet::most_bytes + 1;
  std::string received(reinterpret_cast<const char*>(&length), sizeof length);
  Packet got;
  bool bad = false;
  EXPECT_FALSE(Packet::unframe(received, got, bad));
  EXPECT_TRUE(bad);
}

}  // namespace
}  // namespace weft::boot
