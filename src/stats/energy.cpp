// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/energy.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/file.hpp"

namespace weft::stats {
namespace {

constexpr size_t most_zone_text = 4096;

// 0, or an errno: EINVAL when the text is no number.
int number_in(std::string_view text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && (end == text.data() + text.size() || *end == '\n');
  return whole ? 0 : EINVAL;
}

int read_number(int file, uint64_t& number) {
  char text[32];
  const ssize_t n = pread(file, text, sizeof text, 0);
  return n < 0 ? errno : number_in({text, static_cast<size_t>(n)}, number);
}

// "intel-rapl:0" and "intel-rapl:0:1", AMD's among them; those of intel-rapl-mmio count the same again.
bool is_zone(std::string_view name) {
  constexpr std::string_view begin = "intel-rapl:";
  return name.starts_with(begin) && name.size() > begin.size();
}

}  // namespace

EnergyMeter::EnergyMeter(const std::string& folders, OpenEvent open) {
  // The error of the first folder that has counters, or that no folder has any.
  int error = ENOENT;
  std::string subject;
  std::string_view rest = folders;
  while (!rest.empty()) {
    const std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    find(folder, open);
    if (error_ == 0) return;
    if (error == ENOENT && error_ != ENOENT) {
      error = error_;
      subject = subject_;
    } else if (error == ENOENT) {
      subject.append(subject.empty() ? "" : " and ").append(folder);
    }
    drop();
  }
  fail(subject, error);
}

EnergyMeter::~EnergyMeter() {
  drop();
}

void EnergyMeter::drop() {
  for (Zone& zone : zones_) zone.file.close();
  for (EnergyEvent& event : events_) event.file.close();
  zones_.clear();
  events_.clear();
  error_ = 0;
  subject_.clear();
}

void EnergyMeter::find(const std::string& folder, OpenEvent open) {
  if (has_energy_events(folder)) {
    std::string subject;
    if (const int error = open_energy_events(folder, open, events_, subject)) return fail(subject, error);
    if (events_.empty()) fail(folder, ENOENT);
    return;
  }
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return fail(folder, errno);
  std::vector<std::string> names;
  while (const dirent* entry = readdir(entries)) {
    if (is_zone(entry->d_name)) names.emplace_back(entry->d_name);
  }
  closedir(entries);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) add_zone(std::string(folder).append("/").append(name));
  if (zones_.empty()) fail(folder, ENOENT);
}

void EnergyMeter::add_zone(const std::string& folder) {
  std::string name;
  if (base::read_file(folder + "/name", name, most_zone_text) != 0) return;
  if (!name.starts_with("package") && !name.starts_with("dram")) return;
  const std::string path = folder + "/energy_uj";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(path, errno);
  Zone& zone = zones_.emplace_back(Zone{file, path, 0, 0});
  if (const int error = read_number(file, zone.last)) return fail(path, error);
  std::string range;
  if (base::read_file(folder + "/max_energy_range_uj", range, most_zone_text) != 0 ||
      number_in(range, zone.range) != 0) {
    zone.range = 0;
  }
}

void EnergyMeter::fail(const std::string& subject, int error) {
  if (error_ != 0) return;  // the first one
  error_ = error;
  subject_ = subject;
}

void EnergyMeter::read() {
  if (error_ != 0) return;
  for (Zone& zone : zones_) {
    uint64_t now = 0;
    if (const int error = read_number(zone.file.number(), now)) return fail(zone.path, error);
    if (now >= zone.last) {
      microjoules_ += now - zone.last;
    } else if (zone.range >= zone.last) {
      microjoules_ += zone.range - zone.last + now;
    } else {
      return fail(zone.path, ERANGE);
    }
    zone.last = now;
  }
  for (EnergyEvent& event : events_) {
    uint64_t now = 0;
    if (const int error = read_count(event.file.number(), now)) return fail(event.path, error);
    if (now < event.last) return fail(event.path, ERANGE);
    event_joules_ += static_cast<double>(now - event.last) * event.joules;
    event.last = now;
  }
}

}  // namespace weft::stats
