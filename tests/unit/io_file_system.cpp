// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Mounts whose locks hold on one host alone are known by their options.
#include <gtest/gtest.h>

#include "io/file_system.hpp"

namespace weft::io {
namespace {

constexpr const char* mounts =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "40 22 0:45 / /home rw,nosuid shared:7 master:2 - nfs4 server:/home rw,vers=4.2,local_lock=none,addr=10.0.0.1\n"
    "41 22 0:46 / /scratch rw - nfs server:/scratch rw,vers=3,nolock,local_lock=all\n"
    "42 22 0:47 / /old rw shared:9 - nfs server:/old rw,vers=3,local_lock=posix\n"
    "43 22 0:48 / /flock rw - nfs server:/flock rw,vers=3,local_lock=flock\n"
    "44 22 0:4 / /nolock rw,nolock - nfs server:/nolock,nolock rw\n"
    "45 22 0:50 / /cut rw,nolock";

TEST(FileSystem, OptionsThatKeepLocksOnTheHost) {
  EXPECT_FALSE(has_local_locks(mounts, 254, 0));
  EXPECT_FALSE(has_local_locks(mounts, 0, 45));
  EXPECT_TRUE(has_local_locks(mounts, 0, 46));
  EXPECT_TRUE(has_local_locks(mounts, 0, 47));
  EXPECT_FALSE(has_local_locks(mounts, 0, 48)) << "locks by fcntl are passed on";
}

TEST(FileSystem, OptionsAreThoseOfTheFileSystemAlone) {
  EXPECT_FALSE(has_local_locks(mounts, 0, 4)) << "the words are in a path and in options of the mount point";
  EXPECT_FALSE(has_local_locks(mounts, 0, 50)) << "the line ends early";
  EXPECT_FALSE(has_local_locks(mounts, 0, 51)) << "there is no such device";
  EXPECT_FALSE(has_local_locks("", 0, 45));
}

}  // namespace
}  // namespace weft::io
