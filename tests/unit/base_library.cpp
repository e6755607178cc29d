// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>

#include "base/library.hpp"

namespace weft::base {
namespace {

TEST(FunctionFinder, FindsWhatIsThere) {
  FunctionFinder finder(dlopen("libc.so.6", RTLD_NOW));
  decltype(&strlen) length = nullptr;
  finder.find("strlen", length);
  EXPECT_EQ(finder.problem(), "");
  ASSERT_NE(length, nullptr);
  EXPECT_EQ(length("four"), 4U);
}

TEST(FunctionFinder, NamesTheFirstThatIsMissing) {
  FunctionFinder finder(dlopen("libc.so.6", RTLD_NOW));
  int (*first)() = [] { return 1; };
  int (*second)() = [] { return 2; };
  decltype(&strlen) length = nullptr;
  finder.find("weft_is_not_of_libc", first);
  finder.find("weft_neither", second);
  finder.find("strlen", length);
  EXPECT_EQ(first, nullptr);
  EXPECT_EQ(second, nullptr);
  EXPECT_NE(length, nullptr);
  EXPECT_EQ(finder.problem(), "it has no weft_is_not_of_libc");
}

}  // namespace
}  // namespace weft::base
