// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "stats/energy.hpp"

namespace weft::stats {
namespace {

// A folder as /sys/class/powercap.
struct Powercap {
  Powercap() {
    char name[] = "/tmp/weft-powercap-XXXXXX";
    folder = mkdtemp(name);
  }
  ~Powercap() { std::filesystem::remove_all(folder); }

  void write(const std::string& zone, const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(folder + "/" + zone);
    std::ofstream(folder + "/" + zone + "/" + file) << text << '\n';
  }
  void zone(const std::string& name, const std::string& what, uint64_t energy, uint64_t range = 1000000) const {
    write(name, "name", what);
    write(name, "energy_uj", std::to_string(energy));
    write(name, "max_energy_range_uj", std::to_string(range));
  }

  std::string folder;
};

TEST(StatsEnergy, packages_and_memory_count_their_parts_do_not) {
  const Powercap here;
  here.zone("intel-rapl:0", "package-0", 100);
  here.zone("intel-rapl:0:0", "core", 50);
  here.zone("intel-rapl:0:1", "dram", 10);
  here.zone("intel-rapl:1", "package-1", 7);
  here.zone("intel-rapl:2", "psys", 1000);
  here.zone("intel-rapl-mmio:0", "package-0", 100);
  here.write("intel-rapl", "enabled", "1");
  EnergyMeter meter(here.folder);
  meter.read();
  EXPECT_EQ(meter.microjoules(), 0U);
  for (const char* zone :
       {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:1", "intel-rapl:2", "intel-rapl-mmio:0"})
    here.write(zone, "energy_uj", "2000");
  meter.read();
  EXPECT_EQ(meter.microjoules(), 1900U + 1990U + 1993U);
  EXPECT_EQ(meter.error(), 0);
}

TEST(StatsEnergy, a_counter_begins_again_at_its_range) {
  const Powercap here;
  here.zone("intel-rapl:0", "package-0", 999000);
  EnergyMeter meter(here.folder);
  for (const auto& [value, sum] : {std::pair("999900", 900U), std::pair("500", 1500U), std::pair("500", 1500U),
                                   std::pair("400000", 401000U), std::pair("399999", 1400999U)}) {
    here.write("intel-rapl:0", "energy_uj", value);
    meter.read();
    EXPECT_EQ(meter.microjoules(), sum) << value;
  }
}

TEST(StatsEnergy, a_counter_that_falls_without_a_range_spoils_the_sum) {
  const Powercap here;
  here.zone("intel-rapl:0", "package-0", 999000, 5);
  EnergyMeter meter(here.folder);
  here.write("intel-rapl:0", "energy_uj", "10");
  meter.read();
  EXPECT_EQ(meter.error(), ERANGE);
  EXPECT_EQ(meter.subject(), here.folder + "/intel-rapl:0/energy_uj");
}

TEST(StatsEnergy, without_counters_it_says_so) {
  const Powercap here;
  EnergyMeter none(here.folder);
  none.read();
  EXPECT_EQ(none.error(), ENOENT);
  EXPECT_EQ(none.subject(), here.folder);
  const EnergyMeter nowhere(here.folder + "/nowhere");
  EXPECT_EQ(nowhere.error(), ENOENT);
  here.zone("intel-rapl:0", "psys", 1);
  EXPECT_EQ(EnergyMeter(here.folder).error(), ENOENT);
  here.zone("intel-rapl:0", "package-0", 1);
  here.write("intel-rapl:0", "energy_uj", "many");
  EXPECT_EQ(EnergyMeter(here.folder).error(), EINVAL);
  std::filesystem::remove(here.folder + "/intel-rapl:0/energy_uj");
  std::filesystem::create_directory(here.folder + "/intel-rapl:0/energy_uj");
  const EnergyMeter unreadable(here.folder);
  EXPECT_EQ(unreadable.error(), EISDIR);
  EXPECT_EQ(unreadable.subject(), here.folder + "/intel-rapl:0/energy_uj");
}

TEST(StatsEnergy, a_counter_that_may_not_be_read_is_named) {
  const Powercap here;
  here.zone("intel-rapl:0", "package-0", 1);
  const std::string file = here.folder + "/intel-rapl:0/energy_uj";
  std::filesystem::permissions(file, std::filesystem::perms::none);
  if (access(file.c_str(), R_OK) == 0) GTEST_SKIP() << "root reads all files";
  const EnergyMeter meter(here.folder);
  EXPECT_EQ(meter.error(), EACCES);
  EXPECT_EQ(meter.subject(), file);
}

}  // namespace
}  // namespace weft::stats
