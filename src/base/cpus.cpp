// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/cpus.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/setting.hpp"

namespace weft::base {
namespace {

// A small file's text, cut to the size of the buffer; -1 when it cannot be read.
ssize_t read_small(const char* path, char* buffer, size_t bytes) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, buffer, bytes - 1);
  close(fd);
  if (n >= 0) buffer[n] = 0;
  return n;
}

// The number a text begins with; -1 for "max", -1 and all else that is no number.
int64_t leading_number(const char* text) {
  char* end = nullptr;
  long long value = strtoll(text, &end, 10);
  return end == text ? -1 : value;
}

int rounded_up(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return 0;
  int64_t cpus = (quota + period - 1) / period;
  return static_cast<int>(std::clamp<int64_t>(cpus, 1, CpuSet::capacity));
}

int quota_v2(const std::string& folder) {
  char text[64];
  if (read_small((folder + "/cpu.max").c_str(), text, sizeof text) <= 0) return 0;
  char* space = nullptr;
  long long quota = strtoll(text, &space, 10);
  return space == text ? 0 : rounded_up(quota, leading_number(space));
}

int quota_v1(const std::string& folder) {
  char text[64];
  if (read_small((folder + "/cpu.cfs_quota_us").c_str(), text, sizeof text) <= 0) return 0;
  int64_t quota = leading_number(text);
  if (quota <= 0) return 0;
  if (read_small((folder + "/cpu.cfs_period_us").c_str(), text, sizeof text) <= 0) return 0;
  return rounded_up(quota, leading_number(text));
}

int least(int a, int b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

// The tightest limit from the group up to the mount's root. A container may show a path that does not exist below its
// own mount; the root is looked at in any case.
int tightest(const std::string& mount, std::string_view path, int (*quota_of)(const std::string&)) {
  constexpr int deepest = 8;
  constexpr size_t longest = 1024;
  int found = quota_of(mount);
  if (path.size() > longest || path.find("..") != std::string_view::npos) return found;
  for (int level = 0; level < deepest && path.size() > 1; ++level) {
    found = least(found, quota_of(mount + std::string(path)));
    size_t slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  return found;
}

// The list of processors in a file of the kernel's; false when there is none.
bool read_list(const std::string& path, CpuSet& set) {
  char text[4096];
  ssize_t n = read_small(path.c_str(), text, sizeof text);
  while (n > 0 && text[n - 1] == '\n') --n;
  return n > 0 && parse_cpu_list({text, static_cast<size_t>(n)}, set).empty();
}

bool holds_all(const CpuSet& whole, const CpuSet& part) {
  return whole.both(part) == part;
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu") return true;
    if (comma == std::string_view::npos) break;
    controllers.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

int CpuSet::count() const {
  int n = 0;
  for (uint64_t word : words_) n += std::popcount(word);
  return n;
}

int CpuSet::first() const {
  for (int i = 0; i < words; ++i) {
    if (words_[i] != 0) return i * 64 + std::countr_zero(words_[i]);
  }
  return -1;
}

std::string parse_cpu_list(std::string_view text, CpuSet& set) {
  constexpr size_t longest = 16 << 10;
  if (text.empty()) return "the list is empty";
  if (text.size() > longest) return "the list is too long";
  CpuSet out;
  size_t at = 0;
  auto number = [&](int& value) {
    size_t from = at;
    value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && value < CpuSet::capacity) {
      value = value * 10 + (text[at++] - '0');
    }
    return at > from && value < CpuSet::capacity;
  };
  for (;;) {
    int low = 0;
    if (!number(low)) return quoted(text) + " is no list of processors below 4096 such as 0-3,8";
    int high = low;
    if (at < text.size() && text[at] == '-') {
      ++at;
      if (!number(high)) return quoted(text) + " is no list of processors below 4096 such as 0-3,8";
    }
    if (high < low) return quoted(text) + " has a range that runs backwards";
    for (int cpu = low; cpu <= high; ++cpu) out.add(cpu);
    if (at == text.size()) break;
    if (text[at++] != ',') return quoted(text) + " is no list of processors such as 0-3,8";
  }
  set = out;
  return {};
}

std::string shown_cpu_list(const CpuSet& set) {
  std::string out;
  for (int cpu = 0; cpu < CpuSet::capacity; ++cpu) {
    if (!set.has(cpu)) continue;
    int last = cpu;
    while (set.has(last + 1)) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(cpu);
    if (last > cpu) out += (last == cpu + 1 ? "," : "-") + std::to_string(last);
    cpu = last;
  }
  return out;
}

CpuSet affinity() {
  // The system call and not glibc's function: that one refuses masks of another size than cpu_set_t on some systems.
  CpuSet set;
  if (syscall(SYS_sched_getaffinity, 0, CpuSet::bytes, set.data()) < 0) return {};
  return set;
}

bool set_affinity(const CpuSet& set) {
  return syscall(SYS_sched_setaffinity, 0, CpuSet::bytes, set.data()) == 0;
}

CpuSet core_of(int cpu, const char* root) {
  const std::string topology = std::string(root) + "/cpu/cpu" + std::to_string(cpu) + "/topology/";
  CpuSet core;
  // The second name is that of older kernels.
  if (!read_list(topology + "core_cpus_list", core) && !read_list(topology + "thread_siblings_list", core)) core = {};
  core.add(cpu);
  return core;
}

int quota_cpus(std::string_view proc_cgroup, const char* root) {
  int found = 0;
  while (!proc_cgroup.empty()) {
    size_t end = proc_cgroup.find('\n');
    std::string_view line = proc_cgroup.substr(0, end);
    proc_cgroup.remove_prefix(end == std::string_view::npos ? proc_cgroup.size() : end + 1);
    // hierarchy:controllers:path
    size_t first = line.find(':');
    size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string_view path = line.substr(second + 1);
    if (controllers.empty())
      found = least(found, tightest(root, path, quota_v2));
    else if (names_cpu(controllers)) {
      found = least(found, tightest(std::string(root) + "/cpu", path, quota_v1));
    }
  }
  return found;
}

int numa_node_of(const CpuSet& set, const char* root) {
  const std::string nodes = std::string(root) + "/node/";
  CpuSet online;  // a list of nodes looks as one of processors
  if (set.empty() || !read_list(nodes + "online", online)) return -1;
  for (int node = 0; node < CpuSet::capacity; ++node) {
    CpuSet cpus;
    if (!online.has(node) || !read_list(nodes + "node" + std::to_string(node) + "/cpulist", cpus)) continue;
    if (!cpus.both(set).empty()) return holds_all(cpus, set) ? node : -1;
  }
  return -1;
}

int last_cache_of(const CpuSet& set, const char* root) {
  if (set.empty()) return -1;
  const std::string caches = std::string(root) + "/cpu/cpu" + std::to_string(set.first()) + "/cache/index";
  constexpr int most = 16;
  int64_t last = 0;
  CpuSet shared;
  for (int i = 0; i < most; ++i) {
    char text[16];
    if (read_small((caches + std::to_string(i) + "/level").c_str(), text, sizeof text) <= 0) break;
    const int64_t level = leading_number(text);
    if (level > last && read_list(caches + std::to_string(i) + "/shared_cpu_list", shared)) last = level;
  }
  return last > 0 && holds_all(shared, set) ? shared.first() : -1;
}

int usable_of(const CpuSet& set) {
  int cpus = set.count();
  if (cpus == 0) cpus = static_cast<int>(std::clamp<long>(sysconf(_SC_NPROCESSORS_ONLN), 1, CpuSet::capacity));
  char text[4096];
  ssize_t n = read_small("/proc/self/cgroup", text, sizeof text);
  int quota = n > 0 ? quota_cpus({text, static_cast<size_t>(n)}, "/sys/fs/cgroup") : 0;
  return quota ? std::min(cpus, quota) : cpus;
}

int usable_cpus() {
  return usable_of(affinity());
}

}  // namespace weft::base
