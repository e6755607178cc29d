// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// When mpiexec looks at a job on several hosts that may stand still.
#include <gtest/gtest.h>

#include <cstdint>

#include "mpiexec/hang_report_delay.hpp"

namespace weft::mpiexec {
namespace {

TEST(HangReportDelay, a_job_that_writes_is_not_looked_at) {
  HangReportDelay delay(100, 1000);
  uint64_t now = 1000;
  for (uint64_t written = 1; written < 100; ++written) {
    EXPECT_LE(delay.due(), now + 25);
    now += 99;
    EXPECT_FALSE(delay.is_over(written, now));
  }
  EXPECT_FALSE(delay.is_over(99, now + 99));
  EXPECT_TRUE(delay.is_over(99, now + 100));
}

TEST(HangReportDelay, a_job_that_goes_on_in_silence_is_looked_at_after_twice_the_time_again) {
  HangReportDelay delay(100, 0);
  uint64_t last = 0;
  for (uint64_t after = 100; after < uint64_t{100} << 10; after *= 2) {
    EXPECT_FALSE(delay.is_over(0, last + after - 1));
    EXPECT_EQ(delay.due(), last + after);
    last += after;
    EXPECT_TRUE(delay.is_over(0, last));
  }
}

TEST(HangReportDelay, it_ends_and_need_not_begin) {
  HangReportDelay delay(100, 0);
  delay.end();
  EXPECT_FALSE(delay.is_over(0, 1000));
  EXPECT_EQ(delay.due(), UINT64_MAX);
  EXPECT_EQ(HangReportDelay(0, 0).due(), UINT64_MAX);
}

}  // namespace
}  // namespace weft::mpiexec
