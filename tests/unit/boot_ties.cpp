// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "boot/connect/ties.hpp"
#include "boot/job/notes.hpp"
#include "boot/job/status.hpp"

namespace weft::boot {
namespace {

constexpr int places = 130;  // three words of bits
constexpr int started = 2;

class Matrix : public ::testing::Test {
 protected:
  Matrix() { EXPECT_EQ(ftruncate(fd, static_cast<off_t>(head_bytes(places))), 0); }
  ~Matrix() override { close(fd); }

  void give(int place, uint32_t world) const {
    RankStatus line{};
    line.world = world;
    EXPECT_EQ(pwrite(fd, &line, sizeof line, static_cast<off_t>(sizeof line) * place), ssize_t{sizeof line});
  }
  void tie(int a, int b) const { EXPECT_TRUE(ties.tie(a, b)); }
  std::vector<int> with(int place) const { return ties.connected_with(place); }

  const int fd = memfd_create("ties", 0);
  const Ties ties{fd, places, started};
};
using List = std::vector<int>;

TEST_F(Matrix, OneWorldIsConnected) {
  EXPECT_EQ(with(1), List({0, 1}));
  give(5, 1);
  give(6, 1);
  give(129, 2);
  EXPECT_EQ(with(0), List({0, 1}));
  EXPECT_EQ(with(6), List({5, 6}));
  EXPECT_EQ(with(129), List({129})) << "unused places are of no world";
}

TEST_F(Matrix, OneSideOfATieIsEnoughAndTiesLeadOn) {
  give(5, 1);
  give(6, 1);
  give(129, 2);
  tie(6, 0);
  tie(129, 5);
  EXPECT_EQ(with(1), List({0, 1, 5, 6, 129}));
  EXPECT_TRUE(ties.cut(6, 0));
  EXPECT_EQ(with(1), List({0, 1}));
  EXPECT_EQ(with(5), List({5, 6, 129}));
  EXPECT_TRUE(ties.clear(129));
  EXPECT_EQ(with(5), List({5, 6}));
}

TEST_F(Matrix, OneSideCutsATieForBoth) {
  give(5, 1);
  give(6, 2);
  tie(5, 0);
  tie(0, 5);
  tie(0, 6);
  EXPECT_TRUE(ties.cut(5, 0));
  EXPECT_EQ(with(5), List({5}));
  EXPECT_EQ(with(0), List({0, 1, 6})) << "its other ties stay";
}

TEST(Ties, ASegmentThatNobodyHasSizedConnectsTheFirstRanks) {
  const int fd = memfd_create("ties", 0);
  EXPECT_EQ(Ties(fd, places, started).connected_with(0), List({0, 1}));
  close(fd);
}

}  // namespace
}  // namespace weft::boot
