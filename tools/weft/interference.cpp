// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/interference.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/clock.hpp"
#include "base/cpus.hpp"

namespace weft::tool {
namespace {

constexpr double turn_us = 100;

// A chain of multiplications: neither memory nor several units of the processor matter.
void work(uint64_t steps) {
  uint64_t x = steps;
  for (uint64_t i = 0; i < steps; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
}

uint64_t steps_of_a_turn() {
  constexpr uint64_t trial = 20000;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 50; ++i) {
    const uint64_t start = base::now_ns();
    work(trial);
    least = std::min(least, base::now_ns() - start);
  }
  return static_cast<uint64_t>(static_cast<double>(trial) * turn_us * 1e3 /
                               static_cast<double>(std::max<uint64_t>(least, 1)));
}

struct Runner {
  CoreNoise* core = nullptr;
  uint64_t steps = 0;
  double seconds = 0;
  std::atomic<int>* waiting = nullptr;  // until all have come
  int error = 0;
  pthread_t thread{};

  void run() {
    base::CpuSet one;
    one.add(core->processor);
    if (!base::set_affinity(one)) error = errno;
    core->turns.reserve(static_cast<size_t>(seconds * 1e6 / turn_us) + 16);
    waiting->fetch_sub(1);
    while (waiting->load() > 0) sched_yield();
    const uint64_t start = base::now_ns();
    const uint64_t end = start + static_cast<uint64_t>(seconds * 1e9);
    for (uint64_t now = start; now < end;) {
      work(steps);
      const uint64_t then = base::now_ns();
      core->turns.push_back({static_cast<double>(now - start) * 1e-9, static_cast<double>(then - now) * 1e-3});
      now = then;
    }
  }
};

}  // namespace

bool measure_cores(const std::vector<int>& processors, double seconds, std::vector<CoreNoise>& cores,
                   base::Problem& problem) {
  cores.assign(processors.size(), {});
  std::vector<Runner> runners(processors.size());
  std::atomic<int> waiting = static_cast<int>(processors.size());
  const uint64_t steps = steps_of_a_turn();
  size_t made = 0;
  int error = 0;
  for (; made < runners.size() && error == 0; ++made) {
    cores[made].processor = processors[made];
    runners[made].core = &cores[made];
    runners[made].steps = steps;
    runners[made].seconds = seconds;
    runners[made].waiting = &waiting;
    const auto body = [](void* runner) -> void* {
      static_cast<Runner*>(runner)->run();
      return nullptr;
    };
    error = pthread_create(&runners[made].thread, nullptr, body, &runners[made]);
    if (error != 0) break;
  }
  if (error != 0) waiting = 0;  // those that are there end by themselves
  for (size_t i = 0; i < made; ++i) {
    pthread_join(runners[i].thread, nullptr);
    if (error == 0) error = runners[i].error;
  }
  if (error == 0) return true;
  problem = {.cause = "the cores cannot be measured: there is no thread on each of them",
             .error = error,
             .remedy = "raise the limit of processes (ulimit -u), or start weft on fewer processors (taskset)"};
  return false;
}

Quantiles quantiles_of(const CoreNoise& core) {
  std::vector<double> times;
  times.reserve(core.turns.size());
  double sum = 0;
  for (const Turn& turn : core.turns) {
    times.push_back(turn.takes);
    sum += turn.takes;
  }
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const auto at = [&](size_t per_mille) { return times[(times.size() - 1) * per_mille / 1000]; };
  const double count = static_cast<double>(times.size());
  return {.least = times.front(),
          .median = at(500),
          .p99 = at(990),
          .p999 = at(999),
          .most = times.back(),
          .lost = sum > 0 ? 1 - times.front() * count / sum : 0};
}

std::vector<double> lost_over_time(const CoreNoise& core, double seconds, int columns) {
  const double least = quantiles_of(core).least;
  const double part = seconds / columns;
  std::vector<double> lost(static_cast<size_t>(columns));
  for (const Turn& turn : core.turns) {
    // A turn may have lost more than a part of the time: its loss is spread over the parts that it lies in.
    const double end = turn.at + turn.takes * 1e-6;
    for (auto column = static_cast<int>(turn.at / part); column < columns && column * part < end; ++column) {
      const double inside = std::min(end, (column + 1) * part) - std::max(turn.at, column * part);
      lost[static_cast<size_t>(column)] += std::max(inside, 0.0) * (1 - least / turn.takes);
    }
  }
  for (double& share : lost) share /= part;
  return lost;
}

}  // namespace weft::tool
