// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "base/clock.hpp"
#include "base/cpus.hpp"

namespace weft::base {
namespace {

CpuSet set_of(const char* text) {
  CpuSet set;
  EXPECT_EQ(parse_cpu_list(text, set), "") << text;
  return set;
}

TEST(CpuList, IsReadAndShown) {
  EXPECT_EQ(set_of("0-3,8").count(), 5);
  EXPECT_TRUE(set_of("0-3,8").has(8));
  EXPECT_FALSE(set_of("0-3,8").has(4));
  EXPECT_EQ(shown_cpu_list(set_of("8,0-3,2")), "0-3,8");
  EXPECT_EQ(shown_cpu_list(set_of("0,1")), "0,1");
  EXPECT_EQ(shown_cpu_list(set_of("4095")), "4095");
  EXPECT_EQ(shown_cpu_list({}), "");
}

TEST(CpuList, RefusesWhatIsNoListAndLeavesTheSetAlone) {
  CpuSet set = set_of("5");
  for (const char* text :
       {"", ",", "1,", ",1", "3-1", "a", "1-", "-1", "1--2", "4096", "99999999999999999999", "1 2", "0x1"}) {
    EXPECT_NE(parse_cpu_list(text, set), "") << text;
  }
  EXPECT_NE(parse_cpu_list(std::string(100000, '1'), set), "");
  EXPECT_EQ(shown_cpu_list(set), "5");
}

// A folder laid out as the kernel's are.
class Folder : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(root_), nullptr); }
  void TearDown() override { (void)!system((std::string("rm -rf ") + root_).c_str()); }
  void write(const std::string& path, const std::string& text) {
    std::string folder = std::string(root_) + path.substr(0, path.rfind('/'));
    (void)!system(("mkdir -p " + folder).c_str());
    std::ofstream(root_ + path) << text;
  }
  char root_[32] = "/tmp/test-cpus-XXXXXX";
};
class ControlGroups : public Folder {};
class MachineParts : public Folder {};

TEST_F(ControlGroups, NoLimitIsZero) {
  EXPECT_EQ(quota_cpus("0::/\n", root_), 0);
  write("/cpu.max", "max 100000\n");
  EXPECT_EQ(quota_cpus("0::/\n", root_), 0);
  write("/cpu/cpu.cfs_quota_us", "-1\n");
  write("/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_cpus("4:cpu,cpuacct:/\n", root_), 0);
  EXPECT_EQ(quota_cpus("", root_), 0);
  EXPECT_EQ(quota_cpus("garbage\n:\n::\n", root_), 0);
}

TEST_F(ControlGroups, TheSecondVersionsLimitIsRoundedUp) {
  write("/job/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota_cpus("0::/job\n", root_), 3);
  write("/job/cpu.max", "5000 100000\n");
  EXPECT_EQ(quota_cpus("0::/job\n", root_), 1);
}

TEST_F(ControlGroups, TheTightestAncestorCounts) {
  write("/a/cpu.max", "200000 100000\n");
  write("/a/b/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota_cpus("0::/a/b/c\n", root_), 2);
}

TEST_F(ControlGroups, TheFirstVersionsLimit) {
  write("/cpu/job/cpu.cfs_quota_us", "400000\n");
  write("/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota_cpus("9:cpuset:/job\n4:cpu,cpuacct:/job\n0::/\n", root_), 4);
  EXPECT_EQ(quota_cpus("9:cpuset:/job\n", root_), 0);
}

TEST_F(ControlGroups, APathOutOfTheMountIsNotFollowed) {
  write("/cpu.max", "max 100000\n");
  EXPECT_EQ(quota_cpus("0::/../../etc\n", root_), 0);
}

TEST_F(MachineParts, TheNodeThatHoldsAllProcessors) {
  write("/node/online", "0,2\n");
  write("/node/node0/cpulist", "0-3,8-11\n");
  write("/node/node2/cpulist", "4-7\n");
  EXPECT_EQ(numa_node_of(set_of("1"), root_), 0);
  EXPECT_EQ(numa_node_of(set_of("4-7"), root_), 2);
  EXPECT_EQ(numa_node_of(set_of("3,9"), root_), 0);
  EXPECT_EQ(numa_node_of(set_of("3,4"), root_), -1);
  EXPECT_EQ(numa_node_of(set_of("12"), root_), -1);
  EXPECT_EQ(numa_node_of({}, root_), -1);
  EXPECT_EQ(numa_node_of(set_of("1"), "/nowhere"), -1);
}

TEST_F(MachineParts, TheLastCacheIsTheOneOfTheHighestLevel) {
  for (const char* cpu : {"4", "6"}) {
    const std::string cache = std::string("/cpu/cpu") + cpu + "/cache/index";
    write(cache + "0/level", "1\n");
    write(cache + "0/shared_cpu_list", std::string(cpu) + "\n");
    write(cache + "1/level", "3\n");
    write(cache + "1/shared_cpu_list", "4-7\n");
    write(cache + "2/level", "2\n");
    write(cache + "2/shared_cpu_list", std::string(cpu) + "\n");
  }
  EXPECT_EQ(last_cache_of(set_of("6"), root_), 4);
  EXPECT_EQ(last_cache_of(set_of("4-7"), root_), 4);
  EXPECT_EQ(last_cache_of(set_of("4,8"), root_), -1);
  EXPECT_EQ(last_cache_of(set_of("5"), root_), -1);
  EXPECT_EQ(last_cache_of({}, root_), -1);
}

TEST_F(MachineParts, NonsenseIsNoPlace) {
  write("/node/online", "garbage\n");
  EXPECT_EQ(numa_node_of(set_of("1"), root_), -1);
  write("/node/online", "0\n");
  write("/node/node0/cpulist", "\n");
  EXPECT_EQ(numa_node_of(set_of("1"), root_), -1);
  write("/cpu/cpu1/cache/index0/level", "x\n");
  EXPECT_EQ(last_cache_of(set_of("1"), root_), -1);
}

TEST(UsableCpus, FollowsTheAffinityMask) {
  int before = usable_cpus();
  EXPECT_GE(before, 1);
  EXPECT_LE(before, affinity().count());
  cpu_set_t old;
  ASSERT_EQ(sched_getaffinity(0, sizeof old, &old), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &old)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), 1);
  EXPECT_EQ(affinity().count(), 1);
  sched_setaffinity(0, sizeof old, &old);
}

}  // namespace
}  // namespace weft::base
