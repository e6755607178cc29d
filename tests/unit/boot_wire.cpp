// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "boot/pmi/wire.hpp"

namespace weft::boot {
namespace {

// The program has closed the connection to the launcher, and its number is that of a file of the program.
TEST(Wire, LeavesAFileOfTheProgramAlone) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  const int file = memfd_create("of the program", MFD_CLOEXEC);
  Wire wire;
  wire.open(ends[1]);
  EXPECT_TRUE(wire.send("cmd=init\n"));
  ASSERT_EQ(dup2(file, ends[1]), ends[1]);
  EXPECT_FALSE(wire.send("cmd=finalize\n"));
  EXPECT_EQ(wire.error(), EBADF);
  EXPECT_EQ(wire.read(true), Wire::ReceiveResult::failed);
  wire.hang_up();
  wire.close();
  struct stat facts = {};
  EXPECT_EQ(fstat(ends[1], &facts), 0) << "it was closed";
  EXPECT_EQ(facts.st_size, 0) << "it was written to";
  for (const int each : {ends[0], ends[1], file}) close(each);
}

}  // namespace
}  // namespace weft::boot
