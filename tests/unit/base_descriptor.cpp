// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.hpp"

namespace weft::base {
namespace {

int kept_file() {
  return memfd_create("kept", MFD_CLOEXEC);
}

// The program closes a descriptor and gets its number for a file of its own.
int take_number_of(const Descriptor& kept) {
  const int file = memfd_create("of the program", MFD_CLOEXEC);
  EXPECT_EQ(dup2(file, kept.unchecked()), kept.unchecked());
  close(file);
  return kept.unchecked();
}

TEST(Descriptor, IsItsNumberWhileItIsOpen) {
  Descriptor kept(kept_file());
  EXPECT_TRUE(kept.is_intact());
  EXPECT_GE(kept.number(), 0);
  EXPECT_EQ(kept.number(), kept.needed());
  kept.close();
  EXPECT_FALSE(kept.is_open());
  EXPECT_EQ(kept.number(), -1);
}

TEST(Descriptor, IsNoNumberOnceTheProgramHasClosedIt) {
  Descriptor kept(kept_file());
  close(kept.unchecked());
  EXPECT_TRUE(kept.is_open());
  EXPECT_FALSE(kept.is_intact());
  errno = 0;
  EXPECT_EQ(kept.number(), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(Descriptor, LeavesAFileOfTheProgramAlone) {
  Descriptor kept(kept_file());
  const int file = take_number_of(kept);
  EXPECT_EQ(kept.number(), -1);
  kept.close();
  EXPECT_NE(fcntl(file, F_GETFD), -1) << "it was closed";
  close(file);
}

constinit int again = -1;

TEST(Descriptor, IsTheNumberThatIsFoundAgain) {
  Descriptor kept(kept_file());
  again = dup(kept.unchecked());
  const int file = take_number_of(kept);
  Descriptor::set_finder([](const Descriptor& closed) { return closed.is_same(again) ? again : -1; });
  EXPECT_EQ(kept.number(), again);
  Descriptor::set_finder(nullptr);
  close(file);
  close(again);
}

TEST(DescriptorDeathTest, ThatIsNeededEndsTheJobByName) {
  const Descriptor kept(kept_file(), "a test");
  close(kept.unchecked());
  EXPECT_DEATH((void)kept.needed(), "the program has closed descriptor [0-9]+, which Weft opened for a test");
}

}  // namespace
}  // namespace weft::base
