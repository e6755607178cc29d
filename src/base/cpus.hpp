// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which processors this process may use, cheaply: a system call and a few small files, no topology library.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::base {

// A set of processors by the operating system's numbers.
class CpuSet {
 public:
  static constexpr int capacity = 4096;

  void add(int cpu) {
    if (cpu >= 0 && cpu < capacity) words_[cpu / 64] |= uint64_t{1} << (cpu % 64);
  }
  void remove(int cpu) {
    if (cpu >= 0 && cpu < capacity) words_[cpu / 64] &= ~(uint64_t{1} << (cpu % 64));
  }
  bool has(int cpu) const { return cpu >= 0 && cpu < capacity && (words_[cpu / 64] >> (cpu % 64) & 1); }
  void add(const CpuSet& other) {
    for (int i = 0; i < words; ++i) words_[i] |= other.words_[i];
  }
  CpuSet both(const CpuSet& other) const {
    CpuSet out;
    for (int i = 0; i < words; ++i) out.words_[i] = words_[i] & other.words_[i];
    return out;
  }
  CpuSet without(const CpuSet& other) const {
    CpuSet out;
    for (int i = 0; i < words; ++i) out.words_[i] = words_[i] & ~other.words_[i];
    return out;
  }
  int count() const;
  int first() const;  // -1: none
  bool empty() const { return count() == 0; }
  bool operator==(const CpuSet&) const = default;

  void* data() { return words_; }  // laid out as the kernel's masks are
  const void* data() const { return words_; }
  static constexpr size_t bytes = capacity / 8;

 private:
  static constexpr int words = capacity / 64;
  uint64_t words_[words] = {};
};

// "0-3,8". Longer text than a set can need, numbers beyond the capacity and ranges that run backwards are refused with
// what is wrong; an empty result means taken.
[[nodiscard]] std::string parse_cpu_list(std::string_view text, CpuSet& set);
std::string shown_cpu_list(const CpuSet& set);

// The affinity mask of the calling thread; empty when the system does not tell.
CpuSet affinity();
// Binds the calling thread; false and errno when the system refuses.
[[nodiscard]] bool set_affinity(const CpuSet& set);

// Processors' worth of time the control groups grant, rounded up; 0 when there is no limit. `proc_cgroup` is the text
// of /proc/self/cgroup, `root` where control groups are mounted.
int quota_cpus(std::string_view proc_cgroup, const char* root);

// The processors of the core that this one belongs to, as the system tells under `root`; this one alone when it does
// not.
CpuSet core_of(int cpu, const char* root = "/sys/devices/system");

// The part of the machine that all processors of a set lie in, as the system tells under `root` (where the kernel has
// its /sys/devices/system): their NUMA node, and their last-level cache, named by the lowest processor that shares it.
// -1 when the set spans several, is empty, or nothing is told.
int numa_node_of(const CpuSet& set, const char* root = "/sys/devices/system");
int last_cache_of(const CpuSet& set, const char* root = "/sys/devices/system");

// How many processors this process can keep busy: its affinity mask, limited by the control groups' quota. At least 1.
int usable_cpus();
int usable_of(const CpuSet& set);  // the same with another mask

}  // namespace weft::base
