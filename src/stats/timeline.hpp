// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The times at which a rank did something: samples of its counters, taken in the calls that end when one is due.
// When the samples are full, every second one is dropped and they become as much rarer, so that they cover a run of any
// length. A report has the time in slices, each as long as the run's 64th part, and ranks in groups.

#include <cstdint>

#include "base/ticks.hpp"
#include "stats/calls.hpp"

namespace weft::stats {

struct Area;

inline constexpr int most_samples = 128;
inline constexpr int slice_count = 64;
inline constexpr int most_groups = 32;  // of ranks

// The calls, by what their time is shown as.
inline constexpr int class_count = 3;
constexpr int class_of(CallKind kind) {
  return kind == CallKind::send || kind == CallKind::receive || kind == CallKind::completion ? 0
         : kind == CallKind::collective                                                      ? 1
                                                                                             : 2;
}

// The sums of a rank up to a moment.
struct Sample {
  uint64_t at;
  uint64_t ticks[class_count];
  uint64_t idle[class_count];
};
static_assert(sizeof(Sample) == 56);

struct Timeline {
  uint64_t step;   // ticks from one sample to the next, at least
  uint32_t count;  // of the samples
  uint32_t reserved;
  Sample samples[most_samples];

  // The one writer asks whether a sample is due, and keeps it.
  [[nodiscard]] bool due(uint64_t now) const { return count == 0 || now - samples[count - 1].at >= step; }
  void keep(const Sample& sample);
};
static_assert(sizeof(Timeline) == 16 + 56 * most_samples);

// The parts that the time of a slice has.
enum class SlicePart : uint8_t { program, between_two, collective, other, waiting };
inline constexpr int part_count = 5;
inline constexpr const char* part_names[part_count] = {"program", "between two ranks", "collective", "other",
                                                       "waiting"};

// Seconds of a group's ranks in the slices of a run.
struct GroupSlices {
  int32_t group = 0;
  int32_t ranks = 0;
  float seconds[slice_count][part_count] = {};

  void add(const GroupSlices& other);
};

constexpr int32_t group_of(int32_t rank, int32_t ranks) {
  const int64_t groups = ranks < most_groups ? ranks : most_groups;
  return static_cast<int32_t>(rank * groups / ranks);
}

// A call that has just ended.
struct LongCall {
  uint64_t since = 0;  // 0: there was none
  uint64_t taken = 0;
  uint64_t idle = 0;
  Call call = Call{};
};

// Takes a sample of the own area where one is due, and before it another one of the moment when the call began.
void take_sample(Area& area, uint64_t now, const LongCall& call);

// Computes the slices of the rank of an area, which is a copy. False: its run has just begun.
[[nodiscard]] bool slices_of(const Area& area, const base::Moment& now, double tick, GroupSlices& slices);

}  // namespace weft::stats
