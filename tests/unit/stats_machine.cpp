// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stats/machine.hpp"

namespace weft::stats {
namespace {

// A folder as /sys/devices/system.
struct System {
  System() {
    char name[] = "/tmp/stats-machine-XXXXXX";
    folder = mkdtemp(name);
  }
  ~System() { std::filesystem::remove_all(folder); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  void cpu(int number, int package, const std::string& core, const std::string& cache) const {
    const std::string own = "cpu/cpu" + std::to_string(number);
    write(own + "/topology/physical_package_id", std::to_string(package));
    write(own + "/topology/thread_siblings_list", core);
    write(own + "/topology/core_cpus_list", core);
    write(own + "/cache/index0/level", "3");
    write(own + "/cache/index0/type", "Unified");
    write(own + "/cache/index0/shared_cpu_list", cache);
  }
  std::string folder;
};

TEST(StatsMachine, cores_stand_by_package_and_cache) {
  const System here;
  here.write("cpu/online", "0-7");
  // Packages take turns in the numbers, and package 0 has two caches.
  for (const int cpu : {0, 2, 4, 6}) {
    const std::string other = std::to_string(cpu < 4 ? cpu + 4 : cpu - 4);
    const std::string core = cpu < 4 ? std::to_string(cpu) + "," + other : other + "," + std::to_string(cpu);
    here.cpu(cpu, 0, core, core);
  }
  for (const int cpu : {1, 3, 5, 7}) here.cpu(cpu, 1, std::to_string(cpu), "1,3,5,7");
  EXPECT_EQ(describe_machine(here.folder), "0+4;2+6|1,3,5,7");
}

TEST(StatsMachine, a_system_that_tells_little_has_a_core_for_each_processor) {
  const System here;
  EXPECT_EQ(describe_machine(here.folder), "");
  here.write("cpu/online", "0,2-3");
  EXPECT_EQ(describe_machine(here.folder), "0,2,3");
}

TEST(StatsMachine, this_machine_is_read_back) {
  const std::vector<MachineCore> cores = parse_machine(describe_machine());
  ASSERT_FALSE(cores.empty());
  for (const MachineCore& core : cores) EXPECT_FALSE(core.processors.empty());
}

TEST(StatsMachine, text_gives_packages_caches_and_cores) {
  const std::vector<MachineCore> cores = parse_machine("0+4,1+5;2|3");
  ASSERT_EQ(cores.size(), 4U);
  EXPECT_EQ(cores[1].processors, (std::vector<int>{1, 5}));
  EXPECT_EQ(cores[1].cache, 0);
  EXPECT_EQ(cores[2].cache, 1);
  EXPECT_EQ(cores[2].package, 0);
  EXPECT_EQ(cores[3].cache, 2);
  EXPECT_EQ(cores[3].package, 1);
  for (const char* bad : {"", ",", "0,", "0+", "+0", "0;;1", "0|", "a", "0 1", "-1", "4096", "99999999999", "0+1x"})
    EXPECT_TRUE(parse_machine(bad).empty()) << bad;
}

}  // namespace
}  // namespace weft::stats
