// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress.hpp"

#include <sched.h>

#include <ctime>

#include "base/clock.hpp"
#include "base/setting.hpp"
#include "core/protocol/protocol.hpp"

namespace weft::core {

namespace {

constinit base::IntSetting spin{{.name = "WEFT_SPIN",
                                 .help = "polls of a waiting rank before it yields; -1: by ranks per core",
                                 .unit = base::Unit::count,
                                 .level = base::Level::basic},
                                -1,
                                {-1, 1000000000}};
WEFT_SETTING(spin);

constinit base::IntSetting yields{
    {.name = "WEFT_YIELDS",
     .help = "times a waiting rank yields the processor before it sleeps; -1: by ranks per core",
     .unit = base::Unit::count},
    -1,
    {-1, 1000000000}};
WEFT_SETTING(yields);

}  // namespace

bool progress() {
  bool moved =
      world.ring != nullptr ? receive_ring(*world.ring) : world.host != nullptr && world.host->poll(on_arrival) != 0;
  if (world.lane.peers_waiting != nullptr) [[unlikely]]
    moved |= flush_waiting();
  if (world.lane.streams != nullptr) [[unlikely]]
    moved |= advance_streams();
  if (world.lane.pulls != nullptr || world.lane.pushes != nullptr) [[unlikely]]
    moved |= share_work();
  return moved;
}

void Backoff::tune(int ranks_here, int cpus_here) {
  const bool crowded = ranks_here > cpus_here;
  spin_rounds = static_cast<uint32_t>(spin.value() >= 0 ? spin.value() : crowded ? 0 : 20000);
  yield_rounds = static_cast<uint32_t>(yields.value() >= 0 ? yields.value() : crowded ? 200 : 1000);
}

void Backoff::relax() {
  base::cpu_relax();
}

void Backoff::yield() {
  sched_yield();
}

void Backoff::arm() {
  if (world.host != nullptr) world.host->arm();
}

void Backoff::disarm() {
  if (world.host != nullptr) world.host->disarm();
}

void Backoff::sleep() {
  ++world.lane.counters.sleeps;
  constexpr uint64_t second = 1000000000;
  // Staging memory and room in a peer's ring become free without a message: look again soon while something waits for
  // it.
  constexpr uint64_t soon = 1000000;
  const bool look_soon = world.lane.streams != nullptr || world.lane.peers_waiting != nullptr;
  if (world.host != nullptr) return world.host->sleep(look_soon ? soon : second);
  const timespec time{0, static_cast<long>(soon)};
  nanosleep(&time, nullptr);
}

}  // namespace weft::core
