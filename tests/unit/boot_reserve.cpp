// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "boot/job/reserve.hpp"

namespace weft::boot {
namespace {

using base::CpuSet;

CpuSet set_of(const char* list) {
  CpuSet set;
  EXPECT_EQ(base::parse_cpu_list(list, set), "");
  return set;
}

std::vector<CpuSet> sets_of(std::initializer_list<const char*> lists) {
  std::vector<CpuSet> sets;
  for (const char* list : lists) sets.push_back(set_of(list));
  return sets;
}

std::string reserved(std::initializer_list<const char*> masks, std::initializer_list<const char*> cores, int wanted) {
  const Reserve reserve = choose_reserve(sets_of(masks), sets_of(cores), wanted);
  EXPECT_EQ(reserve.why.empty(), reserve.cores == wanted);
  return base::shown_cpu_list(reserve.cpus);
}

TEST(Reserve, LastCoresFirst) {
  EXPECT_EQ(reserved({"0-7"}, {"0,4", "1,5", "2,6", "3,7"}, 1), "3,7");
  EXPECT_EQ(reserved({"0-7", "0-7"}, {"0,4", "1,5", "2,6", "3,7"}, 2), "2,3,6,7");
}

TEST(Reserve, EachRankKeepsAProcessor) {
  EXPECT_EQ(reserved({"0", "1"}, {"0", "1"}, 1), "") << "ranks that are bound to a core each";
  EXPECT_EQ(reserved({"0-2", "3"}, {"0", "1", "2", "3"}, 1), "2");
  EXPECT_EQ(reserved({"0,1", "2,3"}, {"0", "1", "2", "3"}, 3), "1,3");
  EXPECT_EQ(reserved({"0"}, {"0"}, 1), "");
}

TEST(Reserve, NothingOutsideTheMasks) {
  EXPECT_EQ(reserved({"0,1"}, {"0,4", "1,5", "2,6"}, 1), "1");
}

TEST(Reserve, SaysWhichRankHasTooLittle) {
  const Reserve reserve = choose_reserve(sets_of({"0-3", "5"}), sets_of({"0", "1", "2", "3", "5"}), 5);
  EXPECT_EQ(reserve.cores, 3);
  EXPECT_NE(reserve.why.find("no other processors than"), std::string::npos) << reserve.why;
}

TEST(Cores, AreReadFromTheSystem) {
  const std::string root = testing::TempDir() + "weft-cores-" + std::to_string(getpid());
  for (const int cpu : {0, 1, 2, 3}) {
    const std::string folder = root + "/cpu/cpu" + std::to_string(cpu) + "/topology";
    std::filesystem::create_directories(folder);
    if (cpu != 3) std::ofstream(folder + "/thread_siblings_list") << (cpu == 1 ? "1\n" : "0,2\n");
  }
  std::string shown;
  for (const CpuSet& core : cores_of(set_of("0-3"), root.c_str())) shown += "{" + base::shown_cpu_list(core) + "}";
  EXPECT_EQ(shown, "{0,2}{1}{3}");
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace weft::boot
