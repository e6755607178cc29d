// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The choice between cells and the kernel's copy: both are tried, the faster one is kept, the other one is tried again,
// and one interrupted message decides nothing.
#include <gtest/gtest.h>

#include "transport/shm/crossing.hpp"

namespace {

using namespace weft;
using transport::Way;
using transport::shm::Crossing;

constexpr size_t bytes = 64 << 10;

// Receives `count` messages, which take so many nanoseconds either way; how many of them went by the kernel.
int receive(Crossing& crossing, int count, uint64_t by_cells, uint64_t by_kernel, size_t size = bytes) {
  int kernel = 0;
  for (int i = 0; i < count; ++i) {
    const Way way = crossing.next_way(size);
    if (way == Way::kernel) ++kernel;
    crossing.note_message(way, size, way == Way::kernel ? by_kernel : by_cells);
  }
  return kernel;
}

TEST(Crossing, BothWaysAreTriedFirst) {
  Crossing crossing;
  EXPECT_EQ(crossing.next_way(bytes), Way::cells);
  crossing.note_message(Way::cells, bytes, 3000);
  EXPECT_EQ(crossing.next_way(bytes), Way::kernel);
}

TEST(Crossing, TheFasterWayIsTaken) {
  Crossing cells_are_faster, kernel_is_faster;
  EXPECT_LE(receive(cells_are_faster, 1000, 3000, 30000), 20);
  EXPECT_GE(receive(kernel_is_faster, 1000, 30000, 3000), 980);
}

TEST(Crossing, AChangeIsNoticed) {
  Crossing crossing;
  (void)receive(crossing, 1000, 3000, 10000);
  (void)receive(crossing, 1000, 50000, 10000);  // the processes have moved
  EXPECT_GE(receive(crossing, 1000, 50000, 10000), 950);
  (void)receive(crossing, 4000, 3000, 10000);
  EXPECT_LE(receive(crossing, 1000, 3000, 10000), 70);
}

TEST(Crossing, OneInterruptedMessageDecidesNothing) {
  Crossing crossing;
  (void)receive(crossing, 200, 3000, 10000);
  crossing.note_message(Way::cells, bytes, 4000000);
  EXPECT_LE(receive(crossing, 15, 3000, 10000), 1);
}

TEST(Crossing, EachClassOfSizesHasItsOwn) {
  Crossing crossing;
  (void)receive(crossing, 200, 3000, 10000, 64 << 10);
  EXPECT_GE(receive(crossing, 200, 500000, 200000, 4 << 20), 180);
  EXPECT_LE(receive(crossing, 200, 3000, 10000, 64 << 10), 20);
}

TEST(Crossing, TheSenderKnowsTheLastAnswer) {
  Crossing crossing;
  EXPECT_EQ(crossing.way(bytes), Way::cells);
  crossing.note_answer(Way::kernel, bytes);
  EXPECT_EQ(crossing.way(bytes), Way::kernel);
  EXPECT_EQ(crossing.way(4 << 20), Way::cells);
  crossing.note_answer(Way::cells, bytes);
  EXPECT_EQ(crossing.way(bytes), Way::cells);
}

}  // namespace
