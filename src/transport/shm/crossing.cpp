// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/crossing.hpp"

#include <cstdint>
#include <cstring>

#include "base/clock.hpp"
#include "base/copy.hpp"
#include "base/setting.hpp"

namespace weft::transport::shm {

namespace {

constexpr const char* words[] = {"auto", "near", "far"};
constinit base::ChoiceSetting crossing{
    {.name = "WEFT_CROSSING",
     .help = "how data of 2 KiB and more get to a rank of the same host; near: through a cache that both share, far: "
             "past the caches, auto: as copies show by their time",
     .subject = base::Subject::messages},
    0,
    words,
    3};
WEFT_SETTING(crossing);

// One of so many is timed: far, a timed copy costs more than the others.
constexpr uint32_t one_of_near = 16;
constexpr uint32_t one_of_far = 64;

// Nanoseconds of a KiB. Measured near: at most 115, far: 130 to 160 of 2 KiB, whose stores are not all waited for, and
// 300 to 440 of more.
constexpr size_t small_bytes = 4096;
constexpr double most_near_small = 90;
constexpr double most_near = 180;

constexpr int decisive = 3;

uint32_t dice() {
  static thread_local uint32_t state = 1;
  state = state * 1664525 + 1013904223;
  return state >> 16;
}

}  // namespace

Crossing::Crossing() : measured_(crossing.value() == 0), near_(crossing.value() != 2) {}

bool Crossing::is_timed() const {
  return measured_ &&
         (against_.load(std::memory_order_relaxed) != 0 || dice() % (near() ? one_of_near : one_of_far) == 0);
}

void Crossing::note(double ns_of_kib, size_t bytes) {
  const bool seems_near = ns_of_kib <= (bytes < small_bytes ? most_near_small : most_near);
  if (seems_near == near()) return against_.store(0, std::memory_order_relaxed);
  if (against_.fetch_add(1, std::memory_order_relaxed) + 1 < decisive) return;
  against_.store(0, std::memory_order_relaxed);
  near_.store(seems_near, std::memory_order_relaxed);
}

void Crossing::copy(void* to, const void* from, size_t bytes) {
  if (bytes >= least_bytes && is_timed()) {
    const uint64_t start = base::now_ns();
    std::memcpy(to, from, bytes);
    return note(static_cast<double>(base::now_ns() - start) * 1024 / static_cast<double>(bytes), bytes);
  }
  if (bytes < least_bytes || near()) {
    std::memcpy(to, from, bytes);
  } else {
    base::copy_past_caches(to, from, bytes);
  }
}

}  // namespace weft::transport::shm
