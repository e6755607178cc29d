// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/timeline.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "stats/area.hpp"

namespace weft::stats {
namespace {

// How far a word grew; another process may have written anything.
uint64_t grown(uint64_t from, uint64_t to) {
  return to > from ? to - from : 0;
}

// The time between two samples, by its parts, as shares. Threads may spend more time in MPI than has passed.
void shares_of(const Sample& from, const Sample& to, double (&shares)[part_count]) {
  const auto passed = static_cast<double>(grown(from.at, to.at));
  double work[class_count];
  double idle = 0;
  double in_mpi = 0;
  for (int c = 0; c < class_count; ++c) {
    const auto ticks = static_cast<double>(grown(from.ticks[c], to.ticks[c]));
    const double waits = std::min(ticks, static_cast<double>(grown(from.idle[c], to.idle[c])));
    work[c] = ticks - waits;
    idle += waits;
    in_mpi += ticks;
  }
  const double whole = std::max({passed, in_mpi, 1.0});
  shares[static_cast<int>(SlicePart::program)] = 1 - in_mpi / whole;
  shares[static_cast<int>(SlicePart::between_two)] = work[0] / whole;
  shares[static_cast<int>(SlicePart::collective)] = work[1] / whole;
  shares[static_cast<int>(SlicePart::other)] = work[2] / whole;
  shares[static_cast<int>(SlicePart::waiting)] = idle / whole;
}

// Other threads count at the same time.
template <class Word>
Word word_of(const Word& word) {
  return std::atomic_ref(const_cast<Word&>(word)).load(std::memory_order_relaxed);
}

// The sums of an area.
Sample sample_of(const Area& area, uint64_t now) {
  Sample sample{.at = now, .ticks = {}, .idle = {}};
  const uint32_t used = std::min<uint32_t>(word_of(area.head.blocks_used), block_count);
  for (uint32_t b = 0; b < used; ++b) {
    for (int c = 0; c < call_count; ++c) {
      const CallRow& row = area.blocks[b].rows[c];
      const int kind = class_of(call_info[c].kind);
      sample.ticks[kind] += word_of(row.ticks);
      sample.idle[kind] += word_of(row.idle);
    }
  }
  return sample;
}

// Adds the calls under way to the sample. Returns when the first of them began, or 0.
uint64_t add_under_way(const Area& area, uint64_t now, Sample& sample) {
  uint64_t first = 0;
  const uint32_t used = std::min<uint32_t>(area.head.blocks_used, block_count);
  for (uint32_t b = 0; b < used; ++b) {
    const CounterBlock& block = area.blocks[b];
    if (block.now == 0 || block.now > call_count || now <= block.since) continue;
    const int kind = class_of(call_info[block.now - 1].kind);
    uint64_t idle = block.clock.ticks - block.idle_before;
    if (block.clock.pausing != 0 && now > block.clock.at) idle += now - std::max(block.clock.at, block.since);
    sample.ticks[kind] += now - block.since;
    sample.idle[kind] += std::min(idle, now - block.since);
    if (first == 0 || block.since < first) first = block.since;
  }
  return first;
}

}  // namespace

void Timeline::keep(const Sample& sample) {
  if (count == most_samples) {
    for (uint32_t i = 0; i < most_samples / 2; ++i) samples[i] = samples[2 * i + 1];
    count = most_samples / 2;
    step *= 2;
  }
  samples[count] = sample;
  std::atomic_ref(count).store(count + 1, std::memory_order_release);
}

void GroupSlices::add(const GroupSlices& other) {
  ranks += other.ranks;
  for (int s = 0; s < slice_count; ++s) {
    for (int p = 0; p < part_count; ++p) seconds[s][p] += other.seconds[s][p];
  }
}

void take_sample(Area& area, uint64_t now, const LongCall& call) {
  Timeline& timeline = area.timeline;
  if (!timeline.due(now)) return;
  const Sample sample = sample_of(area, now);
  if (call.since != 0 && call.taken > timeline.step / 2) {
    const int kind = class_of(call_info[static_cast<int>(call.call)].kind);
    Sample before = sample;
    before.at = call.since;
    before.ticks[kind] -= std::min(call.taken, before.ticks[kind]);
    before.idle[kind] -= std::min(call.idle, before.idle[kind]);
    timeline.keep(before);
  }
  timeline.keep(sample);
}

bool slices_of(const Area& area, const base::Moment& now, double tick, GroupSlices& slices) {
  const uint64_t begun = area.head.begun_ticks;
  const uint32_t count = std::min<uint32_t>(area.timeline.count, most_samples);
  if (now.ticks <= begun) return false;
  slices.group = group_of(area.head.rank, area.head.size);
  slices.ranks = 1;
  std::vector<Sample> samples(area.timeline.samples, area.timeline.samples + count);
  samples.push_back(sample_of(area, now.ticks));
  Sample last = samples.back();
  samples.back().at = add_under_way(area, now.ticks, last);  // the moment from which on they are under way
  samples.push_back(last);
  const double width = static_cast<double>(now.ticks - begun) / slice_count;
  Sample from{.at = begun, .ticks = {}, .idle = {}};
  for (const Sample& to : samples) {
    if (to.at <= from.at || to.at > now.ticks) continue;
    double shares[part_count];
    shares_of(from, to, shares);
    // The slices that this stretch lies in.
    const auto begin = static_cast<double>(from.at - begun);
    const auto end = static_cast<double>(to.at - begun);
    const int first = std::clamp(static_cast<int>(begin / width), 0, slice_count - 1);
    for (int s = first; s < slice_count && s * width < end; ++s) {
      const double inside = std::min(end, (s + 1) * width) - std::max(begin, s * width);
      if (inside <= 0) continue;
      for (int p = 0; p < part_count; ++p) slices.seconds[s][p] += static_cast<float>(shares[p] * inside * tick);
    }
    from = to;
  }
  return true;
}

}  // namespace weft::stats
