// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/env/hw_resource.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <iterator>
#include <string>
#include <tuple>

#include "base/cpus.hpp"
#include "core/object/identity.hpp"

namespace weft::mpi {
namespace {

using base::CpuSet;

// The first line of a small file; empty when there is none.
std::string line_of(const std::string& path) {
  char text[4096];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t length = ::read(file, text, sizeof text);
  close(file);
  const std::string all(text, length > 0 ? static_cast<size_t>(length) : 0);
  return all.substr(0, all.find('\n'));
}

CpuSet cpus_in(const std::string& path) {
  CpuSet set;
  if (!base::parse_cpu_list(line_of(path), set).empty()) return {};
  return set;
}

int first_of(const CpuSet& set) {
  int cpu = 0;
  while (cpu < CpuSet::capacity && !set.has(cpu)) ++cpu;
  return cpu < CpuSet::capacity ? cpu : -1;
}

// The processors that share a cache of this level with one of them.
CpuSet sharing_cache(const std::string& cpu, const char* level) {
  for (int i = 0;; ++i) {
    const std::string cache = cpu + "/cache/index" + std::to_string(i);
    const std::string found = line_of(cache + "/level");
    if (found.empty()) return {};
    if (found == level) return cpus_in(cache + "/shared_cpu_list");
  }
}

CpuSet same_node(int cpu) {
  const CpuSet nodes = cpus_in("/sys/devices/system/node/online");
  for (int node = 0; node < CpuSet::capacity; ++node) {
    if (!nodes.has(node)) continue;
    const CpuSet set = cpus_in("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
    if (set.has(cpu)) return set;
  }
  return {};
}

CpuSet same_package(const std::string& cpu) {
  const CpuSet set = cpus_in(cpu + "/topology/package_cpus_list");
  return set.empty() ? cpus_in(cpu + "/topology/core_siblings_list") : set;  // the name in older kernels
}

CpuSet same_core(const std::string& cpu) {
  const CpuSet set = cpus_in(cpu + "/topology/core_cpus_list");
  return set.empty() ? cpus_in(cpu + "/topology/thread_siblings_list") : set;
}

}  // namespace

int hw_resource_type(std::string_view name) {
  for (size_t i = 0; i < hw_resource_types.size(); ++i) {
    if (name == hw_resource_types[i]) return static_cast<int>(i);
  }
  return -1;
}

HwInstances hw_instances() {
  HwInstances instances;
  instances.fill(-1);
  const int64_t host = core::identity->job.host();
  instances[0] = host;
  const CpuSet mine = base::affinity();
  const int cpu = first_of(mine);
  if (cpu < 0) return instances;
  const std::string path = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
  CpuSet alone;
  alone.add(cpu);
  const CpuSet around[] = {same_package(path),       same_node(cpu),  sharing_cache(path, "3"),
                           sharing_cache(path, "2"), same_core(path), alone};
  static_assert(std::size(around) + 1 == std::tuple_size_v<HwInstances>);
  for (size_t i = 0; i < std::size(around); ++i) {
    if (mine.both(around[i]) == mine) instances[i + 1] = host * CpuSet::capacity + first_of(around[i]);
  }
  return instances;
}

}  // namespace weft::mpi
