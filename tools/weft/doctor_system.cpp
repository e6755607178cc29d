// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The system's settings, by its files. A file that is not there gives no finding: the kernel has no such setting.

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>

#include "base/bytes.hpp"
#include "weft/doctor.hpp"

namespace weft::tool {

std::optional<std::string> HostFiles::text(const std::string& path) const {
  std::ifstream file(root_ + path);
  if (!file) return std::nullopt;
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return std::nullopt;
  while (!text.empty() && isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

std::optional<long long> HostFiles::number(const std::string& path) const {
  const std::optional<std::string> given = text(path);
  long long value = 0;
  if (!given || std::from_chars(given->data(), given->data() + given->size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

std::string HostFiles::chosen(const std::string& path) const {
  const std::string given = text(path).value_or("");
  const size_t open = given.find('[');
  const size_t close = given.find(']');
  return open == std::string::npos || close == std::string::npos || close < open
             ? ""
             : given.substr(open + 1, close - open - 1);
}

std::vector<std::string> HostFiles::names(const std::string& path) const {
  std::vector<std::string> found;
  DIR* folder = opendir((root_ + path).c_str());
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') found.emplace_back(entry->d_name);
  }
  closedir(folder);
  std::sort(found.begin(), found.end());
  return found;
}

namespace {

// Names like cpu0, cpu17.
int numbered(const HostFiles& host, const std::string& path, const std::string& prefix) {
  int count = 0;
  for (const std::string& name : host.names(path)) {
    const bool digits = name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0 &&
                        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
    if (digits) ++count;
  }
  return count;
}

// "Max open files   1024   4096   files" in /proc/self/limits: the soft limit as it is written.
std::string limit_of(const HostFiles& host, const std::string& name) {
  std::istringstream lines(host.text("/proc/self/limits").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    std::istringstream words(line.substr(name.size()));
    std::string soft;
    words >> soft;
    return soft;
  }
  return "";
}

// The value of a limit; -1: unlimited.
long long limit_value(const std::string& text) {
  long long value = -1;
  if (text != "unlimited") std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The size with which /dev/shm was mounted; 0: the kernel's default, half of the memory, or there is none.
uint64_t size_of_shared_memory(const HostFiles& host) {
  constexpr std::string_view option = "size=";
  std::istringstream lines(host.text("/proc/self/mounts").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string device, folder, kind, options;
    if (!(words >> device >> folder >> kind >> options) || folder != "/dev/shm") continue;
    const size_t at = options.find(option);
    if (at == std::string::npos) return 0;
    uint64_t number = 0;
    const char* const begin = options.data() + at + option.size();
    const char* const end = std::from_chars(begin, options.data() + options.size(), number).ptr;
    const uint64_t unit = *end == 'k' ? 1 << 10 : *end == 'm' ? 1 << 20 : *end == 'g' ? 1 << 30 : 1;
    return number > UINT64_MAX / unit ? 0 : number * unit;
  }
  return 0;
}

// This process's control group, version 2.
std::string control_group(const HostFiles& host) {
  std::istringstream lines(host.text("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 3, "0::") == 0) return "/sys/fs/cgroup" + (line.size() > 4 ? line.substr(3) : "");
  }
  return "";
}

}  // namespace

void look_at_memory(const HostFiles& host, Findings& findings) {
  const std::string pages = "/sys/kernel/mm/transparent_hugepage/";
  if (const std::string word = host.chosen(pages + "enabled"); !word.empty()) {
    const bool never = word == "never";
    findings.push_back({never ? Grade::note : Grade::good, "transparent huge pages", word,
                        never ? "large arrays take a translation for each 4 KiB: write madvise or always to " + pages +
                                    "enabled (as root)"
                              : ""});
  }
  if (const std::string word = host.chosen(pages + "shmem_enabled"); !word.empty()) {
    const bool never = word == "never" || word == "deny";
    findings.push_back(
        {never ? Grade::note : Grade::good, "huge pages of shared memory", word,
         never ? "memory of MPI_Alloc_mem, of windows and of the symmetric heap gets pages of 4 KiB: write "
                 "advise to " +
                     pages + "shmem_enabled (as root), then ask for WEFT_ALLOC_MEM_PG_SZ=2M"
               : ""});
  }
  const int nodes = numbered(host, "/sys/devices/system/node", "node");
  if (const auto value = host.number("/proc/sys/vm/zone_reclaim_mode")) {
    findings.push_back({*value != 0 ? Grade::bad : Grade::good, "zone reclaim", std::to_string(*value),
                        *value != 0
                            ? "the kernel drops cached files of a NUMA node before it uses another one, with long "
                              "pauses: sysctl vm.zone_reclaim_mode=0"
                            : ""});
  }
  if (const auto value = host.number("/proc/sys/kernel/numa_balancing"); value && nodes > 1) {
    findings.push_back({*value != 0 ? Grade::note : Grade::good, "NUMA balancing", *value != 0 ? "on" : "off",
                        *value != 0 ? "the kernel unmaps pages to see who uses them, which ranks that are bound do not "
                                      "need: sysctl kernel.numa_balancing=0"
                                    : ""});
  }
  if (const auto value = host.number("/proc/sys/vm/overcommit_memory")) {
    findings.push_back({*value == 2 ? Grade::note : Grade::good, "overcommit of memory", std::to_string(*value),
                        *value == 2
                            ? "memory counts when it is reserved, not when it is touched, and large arrays that are "
                              "used in part may be refused: sysctl vm.overcommit_memory=0"
                            : ""});
  }
}

void look_at_processors(const HostFiles& host, Findings& findings) {
  const std::string cpus = "/sys/devices/system/cpu";
  std::map<std::string, int> governors;
  for (const std::string& name : host.names(cpus)) {
    std::string path = cpus;
    path.append("/").append(name).append("/cpufreq/scaling_governor");
    const auto governor = host.text(path);
    if (governor) ++governors[*governor];
  }
  if (!governors.empty()) {
    std::string state;
    for (const auto& [governor, count] : governors) {
      if (!state.empty()) state += ", ";
      state.append(governor).append(" on ").append(std::to_string(count));
    }
    const bool good = governors.size() == 1 && governors.count("performance") == 1;
    findings.push_back({good ? Grade::good : Grade::note, "frequency governor", state,
                        good ? ""
                             : "cores slow down while ranks wait, and take milliseconds to come back: cpupower "
                               "frequency-set -g performance"});
  }
  const auto no_turbo = host.number(cpus + "/intel_pstate/no_turbo");
  const auto boost = host.number(cpus + "/cpufreq/boost");
  if (no_turbo || boost) {
    const bool on = no_turbo ? *no_turbo == 0 : *boost != 0;
    findings.push_back({Grade::good, "turbo", on ? "on" : "off", ""});
  }
  if (const auto active = host.number(cpus + "/smt/active")) {
    findings.push_back({*active != 0 ? Grade::note : Grade::good, "hardware threads", *active != 0 ? "on" : "off",
                        *active != 0
                            ? "two ranks on the threads of one core share its units: bind ranks to cores (mpiexec "
                              "--bind core)"
                            : ""});
  }
  if (const auto source = host.text("/sys/devices/system/clocksource/clocksource0/current_clocksource")) {
    const bool good = *source == "tsc" || *source == "kvm-clock" || *source == "arch_sys_counter";
    findings.push_back({good ? Grade::good : Grade::bad, "clock source", *source,
                        good ? ""
                             : "MPI_Wtime is a system call of a microsecond: boot with clocksource=tsc tsc=reliable, "
                               "where the processors' counters agree"});
  }
  if (const auto isolated = host.text(cpus + "/isolated"); isolated && !isolated->empty()) {
    findings.push_back({Grade::note, "isolated processors", *isolated,
                        "the scheduler puts nothing there by itself: bind ranks to them, or they stay idle"});
  }
}

void look_at_limits(const HostFiles& host, Findings& findings) {
  const bool adapters = !host.names("/sys/class/infiniband").empty();
  if (const std::string text = limit_of(host, "Max locked memory"); !text.empty()) {
    constexpr long long least = 1LL << 30;
    const long long value = limit_value(text);
    const bool low = value >= 0 && value < least;
    findings.push_back({low && adapters ? Grade::bad : Grade::good, "locked memory",
                        value < 0 ? "unlimited" : base::shown_bytes(static_cast<uint64_t>(value)),
                        low && adapters
                            ? "adapters must lock the memory that they read: ulimit -l unlimited, or memlock in "
                              "/etc/security/limits.conf"
                            : ""});
  }
  if (const std::string text = limit_of(host, "Max open files"); !text.empty()) {
    constexpr long long least = 4096;
    const long long value = limit_value(text);
    const bool low = value >= 0 && value < least;
    findings.push_back(
        {low ? Grade::note : Grade::good, "open files", text,
         low ? "a rank needs a descriptor for each rank of its host and for each peer over TCP: ulimit -n 65536" : ""});
  }
  if (const std::string text = limit_of(host, "Max processes"); !text.empty()) {
    constexpr long long least = 4096;
    const long long value = limit_value(text);
    const bool low = value >= 0 && value < least;
    findings.push_back({low ? Grade::note : Grade::good, "processes and threads of a user", text,
                        low ? "ranks times threads may not fit: ulimit -u" : ""});
  }
  if (const uint64_t bytes = size_of_shared_memory(host); bytes > 0) {
    constexpr uint64_t least = uint64_t{1} << 30;
    const bool low = bytes < least;
    findings.push_back({low ? Grade::note : Grade::good, "shared memory (/dev/shm)", base::shown_bytes(bytes),
                        low ? "Weft's own does not lie there, but libraries of programs, UCX and other launchers put "
                              "theirs there and fail: mount -o remount,size=50% /dev/shm, of containers --shm-size"
                            : ""});
  }
  if (const auto scope = host.number("/proc/sys/kernel/yama/ptrace_scope")) {
    const bool shut = *scope >= 1;
    findings.push_back(
        {shut ? Grade::note : Grade::good, "reading other processes (Yama)", std::to_string(*scope),
         shut ? "ranks may not copy from each other's memory, so that large messages are copied twice: sysctl "
                "kernel.yama.ptrace_scope=0, or memory of MPI_Alloc_mem, which ranks map"
              : ""});
  }
  const std::string group = control_group(host);
  if (const auto most = host.text(group + "/memory.max"); !group.empty() && most && *most != "max") {
    const long long value = limit_value(*most);
    findings.push_back({Grade::note, "memory of the control group",
                        base::shown_bytes(static_cast<uint64_t>(std::max(value, 0LL))),
                        "processes beyond it are killed by the kernel: this is the limit of all ranks here together"});
  }
  if (const auto share = host.text(group + "/cpu.max"); !group.empty() && share && share->compare(0, 3, "max") != 0) {
    findings.push_back({Grade::bad, "processors of the control group", *share,
                        "ranks are stopped for the rest of each period when they have used that much (microseconds, of "
                        "microseconds): give whole processors (cpuset) instead of a quota"});
  }
  if (const auto most = host.text(group + "/pids.max"); !group.empty() && most && *most != "max") {
    findings.push_back({Grade::good, "processes of the control group", *most, ""});
  }
}

void look_at_networks(const HostFiles& host, Findings& findings) {
  const std::string folder = "/sys/class/net/";
  bool fast = false;
  bool any = false;
  for (const std::string& name : host.names("/sys/class/net")) {
    if (host.number(folder + name + "/type").value_or(1) == 772 || name == "lo") continue;  // ARPHRD_LOOPBACK
    const std::string state = host.text(folder + name + "/operstate").value_or("unknown");
    if (state != "up" && state != "unknown") continue;
    any = true;
    const long long speed = host.number(folder + name + "/speed").value_or(-1);
    const long long mtu = host.number(folder + name + "/mtu").value_or(0);
    constexpr long long ten_gigabits = 10000;
    constexpr long long jumbo = 4000;
    fast |= speed >= ten_gigabits;
    const bool small = speed >= ten_gigabits && mtu > 0 && mtu < jumbo;
    findings.push_back({small ? Grade::note : Grade::good, "interface " + name,
                        (speed > 0 ? std::to_string(speed) + " Mbit/s, " : "") + "MTU " + std::to_string(mtu),
                        small
                            ? "large messages cost a packet for each 1.5 KB: an MTU of 9000 on all hosts and switches "
                              "between them"
                            : ""});
  }
  if (!any) findings.push_back({Grade::note, "interfaces", "none but the loopback", "other hosts cannot be reached"});
  for (const std::string& name : host.names("/sys/class/infiniband")) {
    const std::string port = "/sys/class/infiniband/" + name + "/ports/1/";
    const std::string state = host.text(port + "state").value_or("unknown");
    const bool active = state.find("ACTIVE") != std::string::npos;
    findings.push_back({active ? Grade::good : Grade::note, "adapter " + name,
                        state + ", " + host.text(port + "rate").value_or("rate unknown"),
                        active ? "" : "its first port is not active: check cable and subnet manager"});
  }
  if (const auto word = host.text("/proc/sys/net/ipv4/tcp_congestion_control")) {
    findings.push_back({Grade::good, "congestion control of TCP", *word, ""});
  }
  if (const auto most = host.number("/proc/sys/net/core/rmem_max"); most && fast) {
    constexpr long long least = 4 << 20;
    findings.push_back({*most < least ? Grade::note : Grade::good, "largest receive buffer of sockets",
                        base::shown_bytes(static_cast<uint64_t>(std::max(*most, 0LL))),
                        *most < least
                            ? "a fast connection waits for acknowledgements: sysctl net.core.rmem_max=16777216 "
                              "net.core.wmem_max=16777216"
                            : ""});
  }
}

}  // namespace weft::tool
