// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/crossing.hpp"

#include <algorithm>
#include <iterator>

#include "base/setting.hpp"

namespace weft::transport::shm {

namespace {

constexpr const char* words[] = {"auto", "cells", "kernel"};
constinit base::ChoiceSetting crossing{
    {.name = "WEFT_CROSSING",
     .help = "how large messages get to a rank of the same host while both are in a call; cells: both copy, through "
             "staging buffers, kernel: by system calls, auto: as was faster for the last messages",
     .subject = base::Subject::messages,
     .change = base::Change::always},
    0,
    words,
    3};
WEFT_SETTING(crossing);

// The slower way is tried less often while it loses by far.
constexpr uint32_t least_tries_of = 16;
constexpr uint32_t most_tries_of = 128;
constexpr float by_far = 1.3F;

// A best time is forgotten slowly: so a message that was interrupted says nothing, and a change says something.
constexpr float forgotten = 1.05F;

bool is_measured() {
  return crossing.value() == 0;
}

constexpr size_t index_of(Way way) {
  return way == Way::kernel ? 1 : 0;
}

}  // namespace

int Crossing::class_of(size_t bytes) {
  static_assert(std::size(class_ends) == classes - 1);
  int at = 0;
  while (at < classes - 1 && bytes > class_ends[at]) ++at;
  return at;
}

Way Crossing::way(size_t bytes) const {
  if (!is_measured()) return crossing.value() == 2 ? Way::kernel : Way::cells;
  return times_[class_of(bytes)].heard.load(std::memory_order_relaxed);
}

void Crossing::note_answer(Way way, size_t bytes) {
  times_[class_of(bytes)].heard.store(way, std::memory_order_relaxed);
}

Way Crossing::next_way(size_t bytes) {
  if (!is_measured()) return way(bytes);
  Times& times = times_[class_of(bytes)];
  const float cells = times.ns_of_kib[0].load(std::memory_order_relaxed);
  const float kernel = times.ns_of_kib[1].load(std::memory_order_relaxed);
  if (cells == 0 || kernel == 0) return cells == 0 ? Way::cells : Way::kernel;
  const Way best = kernel < cells ? Way::kernel : Way::cells;
  const uint32_t tries_of = times.tries_of.load(std::memory_order_relaxed);
  if (times.messages.fetch_add(1, std::memory_order_relaxed) + 1 < tries_of) return best;
  times.messages.store(0, std::memory_order_relaxed);
  return best == Way::cells ? Way::kernel : Way::cells;
}

void Crossing::note_message(Way way, size_t bytes, uint64_t ns) {
  if (!is_measured() || bytes == 0) return;
  Times& times = times_[class_of(bytes)];
  const auto took = static_cast<float>(ns + 1) * 1024 / static_cast<float>(bytes);
  std::atomic<float>& best = times.ns_of_kib[index_of(way)];
  const float before = best.load(std::memory_order_relaxed);
  const float now = before == 0 ? took : std::min(took, before * forgotten);
  best.store(now, std::memory_order_relaxed);
  const float other = times.ns_of_kib[1 - index_of(way)].load(std::memory_order_relaxed);
  if (other == 0 || now <= other) return;
  // This was the slower way, tried.
  const uint32_t tries_of = times.tries_of.load(std::memory_order_relaxed);
  const uint32_t next = now > by_far * other ? std::min(2 * tries_of, most_tries_of) : least_tries_of;
  times.tries_of.store(next, std::memory_order_relaxed);
}

}  // namespace weft::transport::shm
