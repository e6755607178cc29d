// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "boot/pmi/line.hpp"

namespace weft::boot {
namespace {

TEST(PmiLine, IsSplitIntoFields) {
  PmiLine line;
  ASSERT_TRUE(line.parse("cmd=get_result rc=0 msg=success value=12:3:4/5=6"));
  EXPECT_EQ(line.value("cmd"), "get_result");
  EXPECT_EQ(line.value("value"), "12:3:4/5=6");
  EXPECT_EQ(line.number("rc", -100, 100, -1), 0);
  EXPECT_EQ(line.value("none"), "");
  EXPECT_FALSE(line.has("none"));
}

TEST(PmiLine, ToleratesWhatServersDo) {
  PmiLine line;
  EXPECT_TRUE(line.parse("  cmd=barrier_out  ")) << "spaces around";
  EXPECT_TRUE(line.parse("cmd=get_result rc=-1 msg=key weft-1 not found")) << "words for people";
  EXPECT_EQ(line.value("msg"), "key");
  EXPECT_TRUE(line.parse("cmd=set value=")) << "an empty value";
  EXPECT_TRUE(line.has("value"));
  EXPECT_TRUE(line.parse("mcmd=spawn"));
  ASSERT_TRUE(line.parse("cmd=a cmd=b"));
  EXPECT_EQ(line.value("cmd"), "a");
}

TEST(PmiLine, RefusesWhatIsNotTheProtocol) {
  PmiLine line;
  std::string many = "cmd=x";
  for (int i = 0; i < PmiLine::most_fields; ++i) many += " a=b";
  for (const std::string& text : {std::string(), std::string(" "), std::string("hello"), std::string("rc=0"),
                                  std::string("=x"), std::string("cmd=a\tb=c"), std::string("cmd=\x01"),
                                  std::string("cmd=a\0b", 7), many, "cmd=" + std::string(PmiLine::longest, 'x')}) {
    EXPECT_FALSE(line.parse(text)) << text;
  }
}

TEST(PmiLine, NumbersAreBounded) {
  PmiLine line;
  ASSERT_TRUE(line.parse("cmd=x a=5 b=-1 c=99999999999999 d=5x e= f=0x5 g=+5"));
  EXPECT_EQ(line.number("a", 0, 10, -7), 5);
  EXPECT_EQ(line.number("a", 0, 4, -7), -7);
  for (const char* key : {"b", "c", "d", "e", "f", "g", "none"}) EXPECT_EQ(line.number(key, 0, 10, -7), -7) << key;
}

}  // namespace
}  // namespace weft::boot
