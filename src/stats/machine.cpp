// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/machine.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/cpus.hpp"
#include "base/file.hpp"

namespace weft::stats {
namespace {

constexpr size_t most_cpu_text = 4096;

// 0 where the system does not tell.
int package_of(int cpu, const std::string& root) {
  std::string text;
  const std::string path = root + "/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id";
  int package = 0;
  if (base::read_file(path, text, most_cpu_text) != 0) return 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), package);
  return package;
}

struct FoundCore {
  int package;
  int cache;
  int first;
  base::CpuSet processors;
};

std::string joined(const base::CpuSet& set) {
  std::string text;
  base::CpuSet left = set;
  for (int cpu = left.first(); cpu >= 0; cpu = left.first()) {
    left.remove(cpu);
    text.append(text.empty() ? "" : "+").append(std::to_string(cpu));
  }
  return text;
}

}  // namespace

std::string describe_machine(const std::string& root) {
  std::string online;
  if (base::read_file(root + "/cpu/online", online, most_cpu_text) != 0) return {};
  while (!online.empty() && online.back() == '\n') online.pop_back();
  base::CpuSet left;
  if (!base::parse_cpu_list(online, left).empty()) return {};
  std::vector<FoundCore> cores;
  for (int cpu = left.first(); cpu >= 0; cpu = left.first()) {
    base::CpuSet core = base::core_of(cpu, root.c_str()).both(left);
    core.add(cpu);
    left = left.without(core);
    cores.push_back({package_of(cpu, root), base::last_cache_of(core, root.c_str()), cpu, core});
  }
  std::sort(cores.begin(), cores.end(), [](const FoundCore& a, const FoundCore& b) {
    return std::tie(a.package, a.cache, a.first) < std::tie(b.package, b.cache, b.first);
  });
  std::string text;
  const FoundCore* before = nullptr;
  for (const FoundCore& core : cores) {
    if (before != nullptr) {
      text += core.package != before->package ? '|' : core.cache != before->cache ? ';' : ',';
    }
    text += joined(core.processors);
    before = &core;
  }
  return text;
}

std::vector<MachineCore> parse_machine(std::string_view text) {
  std::vector<MachineCore> cores;
  MachineCore core;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int cpu = -1;
    const auto [stop, error] = std::from_chars(at, end, cpu);
    if (error != std::errc() || cpu < 0 || cpu >= base::CpuSet::capacity) return {};
    core.processors.push_back(cpu);
    at = stop;
    const char next = at == end ? ',' : *at++;
    if (next == '+') continue;
    if (next != ',' && next != ';' && next != '|') return {};
    cores.push_back(core);
    core.processors.clear();
    if (next != ',') ++core.cache;
    if (next == '|') ++core.package;
  }
  // A separator at the end has nothing behind it.
  const bool whole = !text.empty() && text.back() >= '0' && text.back() <= '9';
  return whole && core.processors.empty() ? cores : std::vector<MachineCore>();
}

}  // namespace weft::stats
