// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "base/message.hpp"

namespace weft::base {
namespace {

TEST(Describe, HasCauseErrorAndRemedy) {
  std::string text = describe({.cause = "cannot map 64 MiB of shared memory",
                               .error = ENOMEM,
                               .remedy = "raise the memory limit of the container"});
  EXPECT_EQ(
      text,
      "cannot map 64 MiB of shared memory: Cannot allocate memory (errno 12). Remedy: raise the memory limit of the "
      "container");
}

TEST(Describe, LeavesOutWhatThereIsNot) {
  EXPECT_EQ(describe({.cause = "no ranks"}), "no ranks");
}

TEST(WarnDeathTest, NamesTheRankAndSaysAKeyOnce) {
  auto speak = [] {
    set_message_rank(3);
    for (int i = 0; i < 3; ++i) warn_once("a", {.cause = "first"});
    warn_once("b", {.cause = "second"});
    _exit(0);
  };
  EXPECT_EXIT(speak(), testing::ExitedWithCode(0),
              "^weft: rank 3 \\(pid [0-9]+\\): warning: first\nweft: rank 3 \\(pid [0-9]+\\): warning: second\n$");
}

TEST(DieDeathTest, WritesAndEndsTheJob) {
  EXPECT_EXIT(die({.cause = "broken"}), testing::ExitedWithCode(1), "^weft: pid [0-9]+: error: broken\n$");
  set_end_of_job({nullptr, [](int status) { _exit(status + 40); }});
  EXPECT_EXIT(die({.cause = "broken"}), testing::ExitedWithCode(41), "broken");
}

TEST(DieDeathTest, AFailureWhileEndingTheJobStillEndsTheProcess) {
  set_end_of_job({nullptr, [](int) { die({.cause = "again"}); }});
  EXPECT_EXIT(die({.cause = "broken"}), testing::ExitedWithCode(1), "broken\n.*again\n");
}

}  // namespace
}  // namespace weft::base
