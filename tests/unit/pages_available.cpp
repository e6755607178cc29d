// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Available memory, by what a made-up system tells.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "pages/available.hpp"
#include "pages/files.hpp"

using namespace weft::pages;

namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

class System : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/test-available-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
    places = {.proc = root + "/proc", .sys = root + "/sys"};
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::string root;
  KernelPaths places;
};

TEST_F(System, WithoutAnyFileNothingIsKnownAndNothingRefused) {
  const Available there = available(places);
  EXPECT_EQ(there.bytes, UINT64_MAX);
  EXPECT_EQ(there.bound, "");
}

TEST_F(System, FreeMemoryAndSwapBound) {
  write("/proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:    2048 kB\nSwapFree: 1024 kB\n");
  const Available there = available(places);
  EXPECT_EQ(there.bytes, 3 * mib);
  EXPECT_EQ(there.bound, "the free memory of this host");
  EXPECT_NE(there.remedy, "");
}

TEST_F(System, GroupsOfVersion2BoundUpToTheRoot) {
  write("/proc/meminfo", "MemAvailable: 1048576 kB\nSwapFree: 0 kB\n");
  write("/proc/self/cgroup", "0::/job/step\n");
  write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  write("/sys/fs/cgroup/job/step/memory.current", "1048576\n");
  write("/sys/fs/cgroup/job/memory.max", "10485760\n");
  write("/sys/fs/cgroup/job/memory.current", "8388608\n");
  write("/sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 1048576\nactive_file 2097152\n");
  const Available there = available(places);
  EXPECT_EQ(there.bytes, 5 * mib);
  EXPECT_NE(there.bound.find("/job/memory.max"), std::string::npos) << there.bound;
}

TEST_F(System, GroupsOfVersion1Bound) {
  write("/proc/meminfo", "MemAvailable: 1048576 kB\nSwapFree: 0 kB\n");
  write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:hugetlb,memory:/a\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "3145728\n");
  write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4194304\n");
  write("/sys/fs/cgroup/memory/a/memory.stat", "total_inactive_file 2097152\n");
  EXPECT_EQ(available(places).bytes, 1 * mib);
}

TEST_F(System, AGroupThatUsesMoreThanItsLimitLeavesNothing) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "1\n");
  write("/sys/fs/cgroup/memory.current", "2\n");
  EXPECT_EQ(available(places).bytes, 0u);
}

TEST_F(System, TheCommitLimitBoundsWhereNothingIsOvercommitted) {
  write("/proc/meminfo", "MemAvailable: 8192 kB\nCommitLimit: 4096 kB\nCommitted_AS: 3072 kB\n");
  write("/proc/sys/vm/overcommit_memory", "0\n");
  EXPECT_EQ(available(places).bytes, 8 * mib);
  write("/proc/sys/vm/overcommit_memory", "2\n");
  EXPECT_EQ(available(places).bytes, 1 * mib);
}

TEST_F(System, GarbageIsNoLimit) {
  write("/proc/meminfo", "MemAvailable: many\n");
  write("/proc/self/cgroup", ":::\n0\n0::/../../etc\n:\n");
  write("/sys/fs/cgroup/memory.max", "");
  write("/sys/fs/cgroup/memory.current", "x");
  EXPECT_EQ(available(places).bytes, UINT64_MAX);
}

TEST(Files, FieldsAreFoundAtTheBeginningOfALine) {
  EXPECT_EQ(field_in("A: 1\nB: 2 kB", "B:"), 2u);
  EXPECT_FALSE(field_in("AB: 1\n", "B:"));
  EXPECT_FALSE(number_in("max"));
  EXPECT_FALSE(number_in("99999999999999999999999"));
  EXPECT_EQ(chosen_in("always [madvise] never"), "madvise");
  EXPECT_EQ(chosen_in("always ] [never"), "");
}

TEST(Here, SomeMemoryIsAvailable) {
  EXPECT_GT(available().bytes, 0u);
}

}  // namespace
