// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "base/json.hpp"

namespace {

using namespace weft::base;

TEST(Json, IsRead) {
  Json value;
  JsonProblem problem;
  ASSERT_TRUE(
      parse_json(" {\"a\": [1, -2.5e+3, true, false, null],\n \"b\": {\"c\": \"x\\n\\u00e9\\ud83d\\ude00\\\"\"}} ",
                 value, problem))
      << problem.what;
  const Json* a = value.find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 5U);
  int64_t number = 0;
  EXPECT_TRUE(a->items[0].whole(number));
  EXPECT_EQ(number, 1);
  EXPECT_FALSE(a->items[1].whole(number));
  EXPECT_EQ(a->items[1].text, "-2.5e+3");
  EXPECT_TRUE(a->items[2].flag);
  EXPECT_FALSE(a->items[3].flag);
  EXPECT_EQ(a->items[4].kind, Json::ValueKind::null);
  const Json* b = value.find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->line, 2);
  ASSERT_NE(b->find("c"), nullptr);
  EXPECT_EQ(b->find("c")->text, "x\n\xc3\xa9\xf0\x9f\x98\x80\"");
  EXPECT_EQ(value.find("d"), nullptr);
}

TEST(Json, IsRefusedWithItsLine) {
  for (const char* text : {"",
                           "{",
                           "[1,]",
                           "{\"a\" 1}",
                           "{\"a\": 1,}",
                           "{a: 1}",
                           "01",
                           "1.",
                           "1e",
                           "-",
                           "tru",
                           "\"a",
                           "\"\n\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "1 2",
                           "{\"a\": 1, \"a\": 2}",
                           "+1"}) {
    Json value;
    JsonProblem problem;
    EXPECT_FALSE(parse_json(text, value, problem)) << text;
    EXPECT_GE(problem.line, 1);
    EXPECT_NE(problem.what, "") << text;
  }
  Json value;
  JsonProblem problem;
  EXPECT_FALSE(parse_json("[\n1,\n2\n3]", value, problem));
  EXPECT_EQ(problem.line, 4);
  EXPECT_FALSE(parse_json(std::string(100, '['), value, problem));
  EXPECT_NE(problem.what.find("deep"), std::string::npos);
  EXPECT_FALSE(parse_json(std::string((1 << 20) + 1, ' '), value, problem));
  int64_t number = 0;
  ASSERT_TRUE(parse_json("9223372036854775808", value, problem));
  EXPECT_FALSE(value.whole(number));
}

TEST(Json, IsHeardValueByValue) {
  const std::string text = "{\"a\": [1,\n -2e3, {\"b\": true}], \"c\": \"x\\ty\", \"d\": null}";
  std::string heard;
  JsonProblem problem;
  const JsonHearer hear = [&heard](const JsonEvent& e) {
    heard += std::to_string(e.depth) + std::to_string(static_cast<int>(e.kind)) + (e.end ? "." : e.flag ? "!" : ":");
    heard += std::string(e.name) + "=" + std::string(e.text) + "@" + std::to_string(e.line) + " ";
    return std::string();
  };
  ASSERT_TRUE(hear_json(text, text.size(), hear, problem)) << problem.what;
  EXPECT_EQ(heard, "05:=@1 14:a=@1 22:=1@1 22:=-2e3@2 25:=@2 31!b=@2 25.=@2 14.a=@2 13:c=x\ty@2 10:d=@2 05.=@2 ");
  EXPECT_FALSE(hear_json(text, text.size() - 1, hear, problem)) << "it is too long";
  const JsonHearer refuse = [](const JsonEvent& e) { return std::string(e.text == "-2e3" ? "too cold" : ""); };
  EXPECT_FALSE(hear_json(text, text.size(), refuse, problem));
  EXPECT_EQ(problem.line, 2);
  EXPECT_EQ(problem.what, "too cold");
}

TEST(Json, TextsComeBack) {
  const std::string text = "a \"b\" \\ \n\t\x01 \xc3\xa9";
  Json value;
  JsonProblem problem;
  ASSERT_TRUE(parse_json(json_text(text), value, problem)) << problem.what;
  EXPECT_EQ(value.text, text);
}

}  // namespace
