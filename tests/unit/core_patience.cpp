// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "core/thread/patience.hpp"

namespace weft::core {
namespace {

// A wait of a thread whose message comes after so many polls: never, without a yield.
constexpr uint32_t never = ~0U;
uint32_t wait(Patience& patience, uint32_t news) {
  const uint32_t polls = patience.next();
  if (news <= polls) {
    patience.polled(news);
    return news;
  }
  patience.polled(polls);
  patience.yields();
  return polls;
}

TEST(Patience, ThreadsThatWaitForThisCoreLoseFewPolls) {
  Patience patience;
  constexpr uint32_t waits = 1000;
  uint64_t polls = 0;
  for (uint32_t i = 0; i < waits; ++i) polls += wait(patience, never);
  EXPECT_LT(polls / waits, Patience::most / 8);
}

TEST(Patience, NewsFromAnotherCoreAreAwaited) {
  Patience patience;
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(wait(patience, Patience::most / 2), Patience::most / 2);
}

TEST(Patience, AThreadThatMovedAwayIsFoundAgain) {
  Patience patience;
  for (uint32_t i = 0; i < 1000; ++i) wait(patience, never);
  uint32_t parted = 0;
  while (wait(patience, Patience::most / 2) < Patience::most / 2) ++parted;
  EXPECT_LT(parted, 20U);
  EXPECT_EQ(wait(patience, Patience::most / 2), Patience::most / 2);
}

TEST(Patience, NewsAfterTheFirstPollsDoNotProlongWaits) {
  Patience patience;
  for (uint32_t i = 0; i < 1000; ++i) wait(patience, never);
  uint64_t polls = 0;
  for (uint32_t i = 0; i < 1000; ++i) polls += wait(patience, i % 2 == 0 ? 1 : never);
  EXPECT_LT(polls / 1000, Patience::most / 8);
}

}  // namespace
}  // namespace weft::core
