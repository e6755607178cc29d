// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/energy_event.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/cpus.hpp"
#include "base/file.hpp"

namespace weft::stats {
namespace {

constexpr size_t most_event_text = 4096;

int text_of(const std::string& path, std::string& text) {
  const int error = base::read_file(path, text, most_event_text);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return error;
}

// All of `text` as a number; EINVAL when it is none.
template <class Number, class... Base>
int number_in(std::string_view text, Number& number, Base... base) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base...);
  return error == std::errc() && stop == end ? 0 : EINVAL;
}

// "event=0x02".
int config_in(std::string_view text, uint64_t& config) {
  constexpr std::string_view begin = "event=0x";
  if (!text.starts_with(begin)) return EINVAL;
  constexpr int hexadecimal = 16;
  return number_in(text.substr(begin.size()), config, hexadecimal);
}

}  // namespace

int open_perf_event(uint32_t type, uint64_t config, int cpu) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  constexpr int all_processes = -1, no_group = -1;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, all_processes, cpu, no_group, PERF_FLAG_FD_CLOEXEC));
}

int read_count(int file, uint64_t& count) {
  const ssize_t n = read(file, &count, sizeof count);
  if (n == static_cast<ssize_t>(sizeof count)) return 0;
  return n < 0 ? errno : EIO;
}

bool has_energy_events(const std::string& folder) {
  return access((folder + "/events").c_str(), F_OK) == 0;
}

int open_energy_events(const std::string& folder, OpenEvent open, std::vector<EnergyEvent>& events,
                       std::string& subject) {
  std::string text;
  subject = folder + "/type";
  uint32_t type = 0;
  if (const int error = text_of(subject, text)) return error;
  if (const int error = number_in(text, type)) return error;
  subject = folder + "/cpumask";
  text.clear();
  base::CpuSet cpus;
  if (const int error = text_of(subject, text)) return error;
  if (!base::parse_cpu_list(text, cpus).empty() || cpus.empty()) return EINVAL;
  for (const char* name : {"energy-pkg", "energy-ram"}) {
    subject = folder + "/events/" + name;
    text.clear();
    uint64_t config = 0;
    const int missing = text_of(subject, text);
    if (missing == ENOENT) continue;
    if (missing != 0) return missing;
    if (const int error = config_in(text, config)) return error;
    text.clear();
    double joules = 0;
    if (const int error = text_of(subject + ".scale", text)) return error;
    if (number_in(text, joules) != 0 || !std::isfinite(joules) || joules <= 0) return EINVAL;
    base::CpuSet left = cpus;
    for (int cpu = left.first(); cpu >= 0; cpu = left.first()) {
      left.remove(cpu);
      const int file = open(type, config, cpu);
      if (file < 0) return errno == ENOENT ? ENODEV : errno;  // the folder names an event that the kernel does not know
      EnergyEvent& event = events.emplace_back(EnergyEvent{file, subject, joules, 0});
      if (const int error = read_count(file, event.last)) return error;
    }
  }
  return 0;
}

}  // namespace weft::stats
