// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The energy that a host's processors and memory have used, by the kernel's counters (RAPL). They are in a folder as
// /sys/class/powercap: zones intel-rapl:N, for a package, and below them zones of parts; or they are events of perf
// (stats/energy_event.hpp). Packages count, and memory, which is not in them; other parts are, and a platform (psys)
// holds all of it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "stats/energy_event.hpp"

namespace weft::stats {

// Where the kernel has them.
inline constexpr const char* energy_folders = "/sys/class/powercap:/sys/bus/event_source/devices/power";

class EnergyMeter {
 public:
  // Finds the counters and reads them for the first time: in the first of these folders, separated by colons, where all
  // counters can be read. If one of several in a folder cannot be read, none of them is used.
  explicit EnergyMeter(const std::string& folders, OpenEvent open = open_perf_event);
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  // Adds what the counters have grown by; one that has begun again at 0 once is understood.
  void read();

  [[nodiscard]] uint64_t microjoules() const { return microjoules_ + static_cast<uint64_t>(event_joules_ * 1e6); }
  // 0, or why there is no sum: ENOENT, there are no counters; EACCES and others, `subject()` cannot be read.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] const std::string& subject() const { return subject_; }

 private:
  struct Zone {
    base::Descriptor file;
    std::string path;
    uint64_t last;
    uint64_t range;  // the highest value; 0: not known
  };

  void find(const std::string& folder, OpenEvent open);
  void add_zone(const std::string& folder);
  void drop();
  void fail(const std::string& subject, int error);

  std::vector<Zone> zones_;
  std::vector<EnergyEvent> events_;
  uint64_t microjoules_ = 0;  // of the zones
  double event_joules_ = 0;
  int error_ = 0;
  std::string subject_;
};

}  // namespace weft::stats
