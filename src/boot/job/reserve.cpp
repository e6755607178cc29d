// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/reserve.hpp"

#include <algorithm>
#include <cerrno>

#include "base/message.hpp"
#include "base/own_cpus.hpp"
#include "base/setting.hpp"

namespace weft::boot {
namespace {

constinit base::IntSetting cores_setting{
    {.name = "WEFT_RESERVE_CORES",
     .help = "cores of each host kept free of ranks, for the library's threads (WEFT_PROGRESS, WEFT_COPY_THREADS) and "
             "the system; mpiexec --reserve-cores",
     .unit = base::Unit::count,
     .subject = base::Subject::waiting,
     .change = base::Change::before_start},
    0,
    {0, 1024}};
WEFT_SETTING(cores_setting);

base::CpuSet all_of(std::span<const base::CpuSet> masks) {
  base::CpuSet all;
  for (const base::CpuSet& mask : masks) all.add(mask);
  return all;
}

}  // namespace

int wanted_reserve() {
  return static_cast<int>(cores_setting.value());
}

Reserve choose_reserve(std::span<const base::CpuSet> masks, std::span<const base::CpuSet> cores, int wanted) {
  Reserve reserve;
  const base::CpuSet all = all_of(masks);
  const base::CpuSet* short_one = nullptr;
  for (auto core = cores.rbegin(); core != cores.rend() && reserve.cores < wanted; ++core) {
    base::CpuSet cpus = reserve.cpus;
    cpus.add(core->both(all));
    if (cpus == reserve.cpus) continue;
    const auto emptied =
        std::find_if(masks.begin(), masks.end(), [&](const base::CpuSet& mask) { return mask.without(cpus).empty(); });
    if (emptied != masks.end()) {
      short_one = &*emptied;
      continue;
    }
    reserve.cpus = cpus;
    ++reserve.cores;
  }
  if (reserve.cores < wanted) {
    reserve.why = "a rank has no other processors than " + base::shown_cpu_list(short_one ? *short_one : all);
  }
  return reserve;
}

std::vector<base::CpuSet> cores_of(const base::CpuSet& set, const char* root) {
  std::vector<base::CpuSet> cores;
  base::CpuSet seen;
  for (int cpu = 0; cpu < base::CpuSet::capacity; ++cpu) {
    if (!set.has(cpu) || seen.has(cpu)) continue;
    cores.push_back(base::core_of(cpu, root));
    seen.add(cores.back());
  }
  return cores;
}

base::CpuSet reserve_of(std::span<const base::CpuSet> masks) {
  const int wanted = wanted_reserve();
  if (wanted == 0) return {};
  const std::vector<base::CpuSet> cores = cores_of(all_of(masks));
  const Reserve reserve = choose_reserve(masks, cores, wanted);
  if (reserve.cores < wanted) {
    base::warn({.cause = "WEFT_RESERVE_CORES=" + std::to_string(wanted) + ": only " + std::to_string(reserve.cores) +
                         " cores are kept free of ranks, as " + reserve.why,
                .remedy = "let the launcher bind ranks to other processors, or to none, or use Weft's mpiexec"});
  }
  return reserve.cpus;
}

int usable_without(std::span<const base::CpuSet> masks, const base::CpuSet& reserved) {
  return base::usable_of(all_of(masks).without(reserved));
}

void leave_reserve(const base::CpuSet& reserved, bool tells) {
  if (reserved.empty()) return;
  const base::CpuSet own = base::own_cpus().without(reserved);
  const base::CpuSet mask = base::affinity().without(reserved);
  if (base::set_affinity(reserved)) {
    (void)base::set_affinity(mask.empty() ? own : mask);
    base::set_own_cpus(own, reserved);
  } else if (tells) {
    base::warn({.cause = "WEFT_RESERVE_CORES: the system does not let threads go to the reserved processors " +
                         base::shown_cpu_list(reserved),
                .error = errno,
                .remedy = "give each rank's control group all processors of the job"});
  }
}

}  // namespace weft::boot
