// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

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

// The kernel answers close_range as one before Linux 5.9 does.
bool forget_close_range() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {4, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
         syscall(436, 1000, 1000, 0) == -1 && errno == ENOSYS;
}

// Closes from 100 on with descriptors 99, 100 and 150 open: status 0 where 99 alone is left.
[[noreturn]] void close_some(bool is_old_kernel) {
  for (const int number : {99, 100, 150}) {
    if (dup2(2, number) < 0) _exit(2);
  }
  if (is_old_kernel && !forget_close_range()) _exit(3);
  close_from(100);
  const bool right = fcntl(99, F_GETFD) >= 0 && fcntl(100, F_GETFD) < 0 && fcntl(150, F_GETFD) < 0;
  _exit(right ? 0 : 1);
}

TEST(DescriptorDeathTest, DescriptorsAreClosedFromANumberOn) {
  EXPECT_EXIT(close_some(false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(close_some(true), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft::base
