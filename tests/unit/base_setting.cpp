// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/message.hpp"
#include "base/setting.hpp"

namespace weft::base {
namespace {

static constinit IntSetting limit{{.name = "WEFT_TEST_LIMIT",
                                   .help = "a size",
                                   .unit = Unit::bytes,
                                   .level = SettingLevel::basic,
                                   .alias = "MPICH_TEST_LIMIT"},
                                  8192,
                                  {0, 131072}};
WEFT_SETTING(limit);
static constinit IntSetting patience{
    {.name = "WEFT_TEST_PATIENCE", .help = "a time", .unit = Unit::microseconds}, 250, {-1, 10000000}};
WEFT_SETTING(patience);
static constinit BoolSetting flag{{.name = "WEFT_TEST_FLAG", .help = "a switch"}, false};
WEFT_SETTING(flag);
constexpr AliasWord words_of_others[] = {{"fast", "hot"}, {"2", "object"}};
std::string wrong_list(std::string_view text) {
  return text == "bad" ? "it is bad" : "";
}
constexpr const char* designs[] = {"global", "object", "hot"};
static constinit ChoiceSetting design{{.name = "WEFT_TEST_DESIGN",
                                       .help = "a choice",
                                       .alias = "MPICH_TEST_DESIGN",
                                       .other_alias = "CRAY_TEST_DESIGN",
                                       .alias_words = words_of_others},
                                      2,
                                      designs,
                                      3};
WEFT_SETTING(design);
static constinit TextSetting list{
    {.name = "WEFT_TEST_LIST", .help = "a text", .alias = "MPICH_TEST_LIST", .wrong = wrong_list}};
WEFT_SETTING(list);
static constinit TextSetting secret{{.name = "WEFT_TEST_RANK", .help = "internal", .level = SettingLevel::internal}};
WEFT_SETTING(secret);

int64_t number(const char* text, Unit unit) {
  int64_t value = -77;
  std::string wrong = parse_number(text, unit, value);
  EXPECT_EQ(wrong, "") << text;
  return value;
}

bool refused(std::string_view text, Unit unit) {
  int64_t value = -77;
  bool wrong = !parse_number(text, unit, value).empty();
  EXPECT_TRUE(!wrong || value == -77) << "a refused text must not change the value: " << text;
  return wrong;
}

TEST(Setting, TakesNumbersOfAnyFormWhileTheyAreInRange) {
  struct {
    SettingRow& row;
    SettingForm form;
    size_t words;
    int64_t good, bad;
  } const cases[] = {{limit, SettingForm::number, 0, 131072, 131073},
                     {patience, SettingForm::number, 0, -1, -2},
                     {flag, SettingForm::on_off, 2, 1, 2},
                     {design, SettingForm::choice, 3, 0, 3}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.row.text().name);
    const int64_t before = c.row.number();
    EXPECT_EQ(c.row.form(), c.form);
    EXPECT_EQ(c.row.words().size(), c.words);
    EXPECT_FALSE(c.row.set_number(c.bad));
    EXPECT_EQ(c.row.number(), before);
    EXPECT_TRUE(c.row.set_number(c.good));
    EXPECT_EQ(c.row.number(), c.good);
    EXPECT_EQ(c.row.source(), ValueSource::program);
    if (c.words != 0) {
      EXPECT_EQ(c.row.words()[static_cast<size_t>(c.good)], c.row.shown());
    }
    EXPECT_TRUE(c.row.set_number(before));
  }
  EXPECT_EQ(list.form(), SettingForm::text);
  EXPECT_FALSE(list.set_number(0));
}

TEST(ParseNumber, TakesPlainNumbersAndByteSuffixes) {
  EXPECT_EQ(number("0", Unit::none), 0);
  EXPECT_EQ(number("-5", Unit::count), -5);
  EXPECT_EQ(number("4096", Unit::bytes), 4096);
  EXPECT_EQ(number("64K", Unit::bytes), 65536);
  EXPECT_EQ(number("64k", Unit::bytes), 65536);
  EXPECT_EQ(number("2M", Unit::bytes), 2 << 20);
  EXPECT_EQ(number("3G", Unit::bytes), int64_t{3} << 30);
  EXPECT_EQ(number("9223372036854775807", Unit::none), INT64_MAX);
}

TEST(ParseNumber, TakesTimes) {
  EXPECT_EQ(number("250", Unit::microseconds), 250);
  EXPECT_EQ(number("250us", Unit::microseconds), 250);
  EXPECT_EQ(number("5ms", Unit::microseconds), 5000);
  EXPECT_EQ(number("2s", Unit::microseconds), 2000000);
  EXPECT_EQ(number("10", Unit::seconds), 10);
  EXPECT_EQ(number("10s", Unit::seconds), 10);
  EXPECT_EQ(number("3000ms", Unit::seconds), 3);
}

TEST(ParseNumber, RefusesGarbageAndOverflow) {
  for (const char* text : {"", "-", "K", "12Q", "1.5", "0x10", " 1", "1 ", "1K ", "--1", "+1", "1e3", "1KB", "eight"}) {
    EXPECT_TRUE(refused(text, Unit::bytes)) << text;
  }
  EXPECT_TRUE(refused("9223372036854775808", Unit::none));
  EXPECT_TRUE(refused("99999999999999999999999999", Unit::none));
  EXPECT_TRUE(refused("9223372036854775807K", Unit::bytes));
  EXPECT_TRUE(refused("8K", Unit::none));
  EXPECT_TRUE(refused("8K", Unit::microseconds));
  EXPECT_TRUE(refused("5ms", Unit::bytes));
  EXPECT_TRUE(refused("1500ms", Unit::seconds));
  EXPECT_TRUE(refused(std::string_view("1\0", 2), Unit::none));
}

TEST(Setting, AValueOutOfRangeIsRefusedWithTheRange) {
  EXPECT_EQ(limit.parse("128K"), "");
  EXPECT_EQ(limit.value(), 131072);
  std::string wrong = limit.parse("129K");
  EXPECT_NE(wrong.find("0 to 128K"), std::string::npos) << wrong;
  EXPECT_NE(limit.parse("-1"), "");
  EXPECT_EQ(limit.value(), 131072) << "a refused value changes nothing";
  limit.set(8192);
}

TEST(Setting, IsShownAsAUserWritesIt) {
  EXPECT_EQ(limit.shown_default(), "8K");
  EXPECT_EQ(patience.shown(), "250us");
  EXPECT_EQ(patience.parse("5ms"), "");
  EXPECT_EQ(patience.shown(), "5ms");
  EXPECT_EQ(patience.shown_range(), "-1us to 10s");
  EXPECT_EQ(design.shown_range(), "global, object or hot");
  EXPECT_EQ(design.shown(), "hot");
  EXPECT_EQ(flag.shown(), "off");
}

TEST(Setting, WhatIsShownIsParsedToTheSameValue) {
  for (int64_t value : {0, 1, 1023, 1024, 1536, 65536, 131072}) {
    limit.set(value);
    EXPECT_EQ(limit.parse(limit.shown()), "");
    EXPECT_EQ(limit.value(), value);
  }
  for (int64_t value : {-1, 0, 999, 1000, 1500, 1000000, 10000000}) {
    patience.set(value);
    EXPECT_EQ(patience.parse(patience.shown()), "");
    EXPECT_EQ(patience.value(), value);
  }
}

TEST(Setting, SwitchesAndChoices) {
  for (const char* on : {"on", "ON", "1", "yes", "true"}) {
    EXPECT_EQ(flag.parse(on), "");
    EXPECT_TRUE(flag.value());
  }
  for (const char* off : {"off", "0", "no", "False"}) {
    EXPECT_EQ(flag.parse(off), "");
    EXPECT_FALSE(flag.value());
  }
  EXPECT_NE(flag.parse("maybe"), "");
  EXPECT_EQ(design.parse("Object"), "");
  EXPECT_EQ(design.value(), 1);
  std::string wrong = design.parse("cold");
  EXPECT_NE(wrong.find("global, object or hot"), std::string::npos) << wrong;
}

TEST(Setting, AllRowsAreFoundAndSorted) {
  std::vector<SettingRow*> rows = all_settings();
  ASSERT_GE(rows.size(), 6u);
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_LT(std::string(rows[i - 1]->text().name), rows[i]->text().name);
}

TEST(Setting, TheNearestNameIsSuggestedUnlessNoneIsNear) {
  std::vector<SettingRow*> rows = all_settings();
  EXPECT_STREQ(nearest_setting("WEFT_TEST_LIMTI", rows), "WEFT_TEST_LIMIT");
  EXPECT_STREQ(nearest_setting("WEFT_TEST_FLAGS", rows), "WEFT_TEST_FLAG");
  EXPECT_EQ(nearest_setting("WEFT_SOMETHING_ELSE_ENTIRELY", rows), nullptr);
  EXPECT_EQ(nearest_setting(std::string(100000, 'W'), rows), nullptr);
}

TEST(Quoted, TextOfUnknownOriginIsMadePrintableAndShort) {
  EXPECT_EQ(base::quoted("a\nb\x1b[0m"), "\"a?b?[0m\"");
  EXPECT_LT(base::quoted(std::string(100000, 'x')).size(), 80u);
}

TEST(Quoted, APathKeepsItsCharactersAndItsEnds) {
  EXPECT_EQ(base::quoted_path("/caf\xc3\xa9/a\nb"), "\"/caf\xc3\xa9/a?b\"");
  const std::string whole(256, 'x');
  EXPECT_EQ(base::quoted_path(whole), "\"" + whole + "\"");
  std::string accents;
  for (int i = 0; i < 200; ++i) accents += "\xc3\xa9";
  for (const char* begin : {"/", "/a"}) {  // both ends of what is left out fall into a character, or none
    const std::string shown = base::quoted_path(begin + accents + "/name");
    EXPECT_TRUE(shown.starts_with(std::string("\"") + begin) && shown.ends_with("\xc3\xa9/name\"")) << shown;
    const size_t left_out = shown.find("\xc3\xa9...\xc3\xa9");
    EXPECT_TRUE(left_out != std::string::npos && shown.size() < 270) << shown;
  }
}

TEST(WholeCharacters, ATextIsCutBetweenCharacters) {
  EXPECT_EQ(base::whole_characters("a\xc3\xa9", 3), 3u);
  EXPECT_EQ(base::whole_characters("a\xc3\xa9", 2), 1u);
  EXPECT_EQ(base::whole_characters("\xf0\x9f\x8c\x8a!", 4), 4u);
  EXPECT_EQ(base::whole_characters("\xf0\x9f\x8c\x8a!", 3), 0u);
  EXPECT_EQ(base::whole_characters(std::string(100, '\x80'), 50), 46u);  // no UTF-8: it is cut somewhere
}

// load_settings() reads the environment once per process, so each case is a process of its own.
void load_with(const char* name, const char* value) {
  setenv(name, value, 1);
  load_settings();
}

TEST(LoadSettingsDeathTest, AValueThatCannotBeUsedEndsTheProgramWithCauseRangeAndRemedy) {
  EXPECT_EXIT(load_with("WEFT_TEST_LIMIT", "1G"), testing::ExitedWithCode(1),
              "WEFT_TEST_LIMIT cannot be used: \"1G\" is out of range: 0 to 128K. Remedy: .*0 to 128K");
}

void load_and_exit(const char* name, const char* value) {
  load_with(name, value);
  load_settings();  // once only: nothing is said twice
  fprintf(stderr, "limit %d from %d|", static_cast<int>(limit.value()), static_cast<int>(limit.source()));
  _exit(0);
}

TEST(LoadSettingsDeathTest, AnUnknownNameWarnsOnceAndSuggestsTheNearest) {
  EXPECT_EXIT(
      load_and_exit("WEFT_TEST_LIMITS", "1K"), testing::ExitedWithCode(0),
      "^weft: pid [0-9]+: warning: .*WEFT_TEST_LIMITS is no setting.*did you mean WEFT_TEST_LIMIT\\?[^\n]*\nlimit");
}

TEST(LoadSettingsDeathTest, OfManyRanksOnlyTheFirstWarns) {
  setenv("PMI_RANK", "3", 1);
  EXPECT_EXIT(load_and_exit("WEFT_TEST_LIMITS", "1K"), testing::ExitedWithCode(0), "^limit");
  unsetenv("PMI_RANK");
}

TEST(LoadSettingsDeathTest, AnAliasIsTakenAndOurOwnNameWins) {
  EXPECT_EXIT(load_and_exit("MPICH_TEST_LIMIT", "1K"), testing::ExitedWithCode(0), "^limit 1024 from 1");
  setenv("MPICH_TEST_LIMIT", "1K", 1);
  EXPECT_EXIT(load_and_exit("WEFT_TEST_LIMIT", "2K"), testing::ExitedWithCode(0), "^limit 2048 from 1");
  unsetenv("MPICH_TEST_LIMIT");
}

void show_and_exit(const SettingRow& row, const char* name, const char* value) {
  load_with(name, value);
  fprintf(stderr, "%s by %s", row.shown().c_str(), row.variable());
  _exit(0);
}

TEST(LoadSettingsDeathTest, WordsOfAnotherLibraryAreUnderstoodUnderItsNamesAlone) {
  const auto ends = testing::ExitedWithCode(0);
  EXPECT_EXIT(show_and_exit(design, "MPICH_TEST_DESIGN", "2"), ends, "^object by MPICH_TEST_DESIGN$");
  EXPECT_EXIT(show_and_exit(design, "CRAY_TEST_DESIGN", "FAST"), ends, "^hot by CRAY_TEST_DESIGN$");
  EXPECT_EXIT(show_and_exit(design, "MPICH_TEST_DESIGN", "global"), ends, "^global by MPICH_TEST_DESIGN$");
  EXPECT_EXIT(load_with("WEFT_TEST_DESIGN", "fast"), testing::ExitedWithCode(1), "WEFT_TEST_DESIGN cannot be used");
}

TEST(LoadSettingsDeathTest, AnAliasThatCannotBeUsedWarnsAndTheDefaultStays) {
  const auto ends = testing::ExitedWithCode(0);
  const std::string before = design.shown();
  EXPECT_EXIT(show_and_exit(design, "MPICH_TEST_DESIGN", "cold"), ends,
              "^weft: [^\n]*warning: the environment variable MPICH_TEST_DESIGN has no effect: \"cold\" is not [^\n]*"
              "Remedy: [^\n]*WEFT_TEST_DESIGN[^\n]*\n" +
                  before + " by WEFT_TEST_DESIGN$");
  EXPECT_EXIT(show_and_exit(list, "MPICH_TEST_LIST", "bad"), ends,
              "MPICH_TEST_LIST has no effect: it is bad[^\n]*\n by ");
  setenv("MPICH_TEST_DESIGN", "cold", 1);
  EXPECT_EXIT(show_and_exit(design, "WEFT_TEST_DESIGN", "object"), ends, "^object by WEFT_TEST_DESIGN$");
  unsetenv("MPICH_TEST_DESIGN");
}

TEST(LoadSettingsDeathTest, AnEmptyValueIsTheDefaultAndInternalNamesAreQuiet) {
  limit.set(8192);
  limit.mark(ValueSource::fallback);
  EXPECT_EXIT(load_and_exit("WEFT_TEST_LIMIT", ""), testing::ExitedWithCode(0), "^limit 8192 from 0");
  EXPECT_EXIT(load_and_exit("WEFT_TEST_RANK", "0"), testing::ExitedWithCode(0), "^limit 8192 from 0");
}

}  // namespace
}  // namespace weft::base
