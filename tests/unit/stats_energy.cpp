// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stats/energy.hpp"

namespace weft::stats {
namespace {

// A folder as /sys/class/powercap.
struct Powercap {
  Powercap() {
    char name[] = "/tmp/stats-powercap-XXXXXX";
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

// A folder as /sys/bus/event_source/devices/power. A counter's values are a file of its own, by event and processor.
struct PowerEvents : Powercap {
  PowerEvents() {
    write(".", "type", "22");
    write(".", "cpumask", "0,18");
    event("energy-cores", "event=0x01", "0.5");
    event("energy-pkg", "event=0x02", "0.5");
    opened = folder;
  }
  void event(const std::string& name, const std::string& config, const std::string& scale) const {
    write("events", name, config);
    write("events", name + ".scale", scale);
    write("events", name + ".unit", "Joules");
  }
  void counter(uint64_t config, int cpu, const std::vector<uint64_t>& values) const {
    std::ofstream file(path(config, cpu), std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(uint64_t)));
  }
  static std::string path(uint64_t config, int cpu) {
    return opened + "/counter-" + std::to_string(config) + "-" + std::to_string(cpu);
  }
  static int open_counter(uint32_t type, uint64_t config, int cpu) {
    constexpr uint32_t power = 22;
    EXPECT_EQ(type, power);
    return open(path(config, cpu).c_str(), O_RDONLY | O_CLOEXEC);
  }

  static inline std::string opened;
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

TEST(StatsEnergy, events_of_packages_and_memory_count_on_each_processor_of_the_mask) {
  const PowerEvents here;
  here.event("energy-ram", "event=0x0c", "2.5e-1");
  here.counter(2, 0, {100, 101, 110});
  here.counter(2, 18, {7, 7, 8});
  here.counter(12, 0, {0, 4, 4});
  here.counter(12, 18, {1U << 31, 1U << 31, (uint64_t{1} << 31) + 8});
  EnergyMeter meter(here.folder, PowerEvents::open_counter);
  EXPECT_EQ(meter.error(), 0) << meter.subject();
  EXPECT_EQ(meter.microjoules(), 0U);
  meter.read();
  EXPECT_EQ(meter.microjoules(), 1500000U);  // 1 of 0.5 J and 4 of 0.25 J
  meter.read();
  EXPECT_EQ(meter.microjoules(), 1500000U + 5000000U + 2000000U);
  EXPECT_EQ(meter.error(), 0);
  meter.read();  // the file has no more
  EXPECT_EQ(meter.error(), EIO);
  EXPECT_EQ(meter.subject(), here.folder + "/events/energy-pkg");
}

TEST(StatsEnergy, an_event_that_cannot_be_counted_is_named) {
  const PowerEvents here;
  const EnergyMeter none(here.folder, PowerEvents::open_counter);
  EXPECT_EQ(none.error(), ENODEV);  // of the counter on processor 0
  here.counter(2, 0, {5, 4});
  here.counter(2, 18, {5, 5});
  EnergyMeter falls(here.folder, PowerEvents::open_counter);
  falls.read();
  EXPECT_EQ(falls.error(), ERANGE);
  const OpenEvent forbidden = [](uint32_t, uint64_t, int) { return errno = EACCES, -1; };
  const EnergyMeter hidden(here.folder, forbidden);
  EXPECT_EQ(hidden.error(), EACCES);
  EXPECT_EQ(hidden.subject(), here.folder + "/events/energy-pkg");
  for (const auto& [file, text] :
       {std::pair("cpumask", "0-"), std::pair("type", "power"), std::pair("type", "-1"), std::pair("cpumask", "")}) {
    const PowerEvents bad;
    bad.write(".", file, text);
    const EnergyMeter meter(bad.folder, forbidden);
    EXPECT_EQ(meter.error(), EINVAL) << file << " " << text;
    EXPECT_EQ(meter.subject(), bad.folder + "/" + file);
  }
  for (const auto& [config, scale] :
       {std::pair("event=0x", "1"), std::pair("config=2", "1"), std::pair("event=0x2", "x"),
        std::pair("event=0x2", "-1"), std::pair("event=0x2", "inf")}) {
    const PowerEvents bad;
    bad.event("energy-pkg", config, scale);
    const EnergyMeter meter(bad.folder, forbidden);
    EXPECT_EQ(meter.error(), EINVAL) << config << " " << scale;
  }
}

TEST(StatsEnergy, the_first_folder_with_counters_that_can_be_read_counts) {
  const Powercap zones;
  zones.zone("intel-rapl:0", "package-0", 100);
  const PowerEvents events;
  events.counter(2, 0, {0, 2});
  events.counter(2, 18, {0, 2});
  {
    EnergyMeter meter(zones.folder + ":" + events.folder, PowerEvents::open_counter);
    zones.write("intel-rapl:0", "energy_uj", "103");
    meter.read();
    EXPECT_EQ(meter.microjoules(), 3U);
  }
  std::filesystem::remove(zones.folder + "/intel-rapl:0/energy_uj");
  std::filesystem::create_directory(zones.folder + "/intel-rapl:0/energy_uj");
  EnergyMeter meter(zones.folder + ":" + events.folder, PowerEvents::open_counter);
  meter.read();
  EXPECT_EQ(meter.microjoules(), 2000000U);
  const EnergyMeter first_error(zones.folder + ":/nowhere", PowerEvents::open_counter);
  EXPECT_EQ(first_error.error(), EISDIR);
  const EnergyMeter none("/nowhere:/neither");
  EXPECT_EQ(none.error(), ENOENT);
  EXPECT_EQ(none.subject(), "/nowhere and /neither");
}

// An event that any Linux has stands for the processor's.
TEST(StatsEnergy, events_are_counted_by_the_kernel) {
  constexpr uint32_t software = 1;
  const int probe = open_perf_event(software, 0, 0);
  if (probe < 0) GTEST_SKIP() << "no events of perf may be counted here";
  close(probe);
  const PowerEvents here;
  here.write(".", "type", std::to_string(software));
  here.write(".", "cpumask", "0");
  here.event("energy-pkg", "event=0x00", "1e-9");  // nanoseconds of the processor
  EnergyMeter meter(here.folder);
  ASSERT_EQ(meter.error(), 0) << meter.subject();
  while (meter.microjoules() == 0 && meter.error() == 0) meter.read();
  EXPECT_EQ(meter.error(), 0);
}

}  // namespace
}  // namespace weft::stats
