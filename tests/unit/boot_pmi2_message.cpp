// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "boot/pmi/pmi2_message.hpp"

namespace weft::boot {
namespace {

TEST(Pmi2Message, IsSplitIntoFields) {
  Pmi2Message message;
  ASSERT_TRUE(message.parse("cmd=kvs-get-response;found=TRUE;value=12:3:4/5=6;rc=0;"));
  EXPECT_EQ(message.value("cmd"), "kvs-get-response");
  EXPECT_EQ(message.value("value"), "12:3:4/5=6");
  EXPECT_EQ(message.number("rc", -100, 100, -1), 0);
  EXPECT_FALSE(message.has("none"));
}

TEST(Pmi2Message, ToleratesWhatServersDo) {
  Pmi2Message message;
  EXPECT_TRUE(message.parse("cmd=finalize-response")) << "no semicolon behind the last field";
  ASSERT_TRUE(message.parse("cmd=fullinit-response;pmijobid=;rank=3;")) << "an empty value";
  EXPECT_TRUE(message.has("pmijobid"));
  EXPECT_EQ(message.number("rank", 0, 9, -1), 3);
  ASSERT_TRUE(message.parse("cmd=a;errmsg=one;;two words;rc=1;")) << "a semicolon inside a value";
  EXPECT_EQ(message.value("errmsg"), "one;;two words");
  EXPECT_EQ(message.value("rc"), "1");
  ASSERT_TRUE(message.parse("cmd=a;words;=x;cmd=b")) << "what is no field";
  EXPECT_EQ(message.value("cmd"), "a");
}

TEST(Pmi2Message, RefusesWhatIsNotTheProtocol) {
  Pmi2Message message;
  std::string many = "cmd=x";
  for (int i = 0; i < Pmi2Message::most_fields; ++i) many += ";a=b";
  for (const std::string& text :
       {std::string(), std::string(";"), std::string("hello"), std::string("rc=0;"), std::string("mcmd=spawn;"),
        std::string("cmd=a\nb"), std::string("cmd=a\0b", 7), many, "cmd=" + std::string(Pmi2Message::longest, 'x')}) {
    EXPECT_FALSE(message.parse(text)) << text;
  }
}

TEST(Pmi2Message, LengthsAreSixCharacters) {
  EXPECT_EQ(Pmi2Message::framed("cmd=finalize;"), "    13cmd=finalize;");
  EXPECT_EQ(Pmi2Message::length_of("    13"), 13);
  EXPECT_EQ(Pmi2Message::length_of("13    "), 13);
  EXPECT_EQ(Pmi2Message::length_of("000013"), 13);
  EXPECT_EQ(Pmi2Message::length_of("  8192"), 8192);
  for (const char* text : {"", "      ", "     0", "    -1", "  8193", "999999", "1 3   ", "0x10  ", "13", "     13"}) {
    EXPECT_EQ(Pmi2Message::length_of(text), -1) << text;
  }
}

}  // namespace
}  // namespace weft::boot
