// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/json.hpp"
#include "stats/area.hpp"
#include "stats/report.hpp"
#include "stats/text.hpp"

namespace weft::stats {
namespace {

constexpr double tick = 1e-9;
constexpr uint64_t begun = 1000;
constexpr uint64_t slice = 1000000;  // ticks
constexpr base::Moment end{begun + slice_count * slice, 0};

// The area of one rank whose run has come to its end.
struct OneRank {
  explicit OneRank(int32_t rank = 0, int32_t size = 1)
      : area(static_cast<Area*>(
            mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    area->head.rank = rank;
    area->head.size = size;
    area->head.begun_ticks = begun;
    area->head.blocks_used = 1;
    area->timeline.step = slice / 4;
  }
  ~OneRank() { munmap(area, sizeof(Area)); }

  // A call of some slices, as the functions around calls count it.
  void call(Call one, double from, double to, double waits) {
    const auto ticks = static_cast<uint64_t>((to - from) * slice);
    const auto idle = static_cast<uint64_t>(waits * slice);
    CallRow& row = area->blocks[0].rows[static_cast<int>(one)];
    row.ticks += ticks;
    row.idle += idle;
    const auto since = begun + static_cast<uint64_t>(from * slice);
    take_sample(*area, since + ticks, {since, ticks, idle, one});
  }

  Area* area;
};

double part(const GroupSlices& slices, int s, SlicePart part) {
  return slices.seconds[s][static_cast<int>(part)] / (slice * tick);
}

void expect_slice(const GroupSlices& slices, int s, double program, double two, double collective, double other,
                  double waiting) {
  EXPECT_NEAR(part(slices, s, SlicePart::program), program, 1e-4) << s;
  EXPECT_NEAR(part(slices, s, SlicePart::between_two), two, 1e-4) << s;
  EXPECT_NEAR(part(slices, s, SlicePart::collective), collective, 1e-4) << s;
  EXPECT_NEAR(part(slices, s, SlicePart::other), other, 1e-4) << s;
  EXPECT_NEAR(part(slices, s, SlicePart::waiting), waiting, 1e-4) << s;
}

TEST(StatsTimeline, each_slice_has_what_was_done_in_it) {
  OneRank run;
  run.call(Call::init_, 0, 1, 0);
  run.call(Call::recv_, 10, 12, 1);
  run.call(Call::barrier_, 20.5, 21.5, 0);
  run.call(Call::send_, 40, 64, 0);
  GroupSlices slices;
  ASSERT_TRUE(slices_of(*run.area, end, tick, slices));
  expect_slice(slices, 0, 0, 0, 0, 1, 0);
  expect_slice(slices, 5, 1, 0, 0, 0, 0);
  expect_slice(slices, 10, 0, 0.5, 0, 0, 0.5);
  expect_slice(slices, 11, 0, 0.5, 0, 0, 0.5);
  expect_slice(slices, 12, 1, 0, 0, 0, 0);
  expect_slice(slices, 20, 0.5, 0, 0.5, 0, 0);
  expect_slice(slices, 21, 0.5, 0, 0.5, 0, 0);
  expect_slice(slices, 39, 1, 0, 0, 0, 0);
  expect_slice(slices, 63, 0, 1, 0, 0, 0);
}

TEST(StatsTimeline, a_call_under_way_counts_from_its_begin) {
  OneRank run;
  run.call(Call::init_, 0, 1, 0);
  CounterBlock& block = run.area->blocks[0];
  block.now = 1 + static_cast<uint32_t>(Call::recv_);
  block.since = begun + 32 * slice;
  block.clock = {.ticks = 8 * slice, .at = begun + 48 * slice, .pausing = 1};
  GroupSlices slices;
  ASSERT_TRUE(slices_of(*run.area, end, tick, slices));
  expect_slice(slices, 31, 1, 0, 0, 0, 0);
  expect_slice(slices, 32, 0, 0.25, 0, 0, 0.75);  // 24 of 32 slices are idle
  expect_slice(slices, 63, 0, 0.25, 0, 0, 0.75);
}

TEST(StatsTimeline, a_run_of_any_length_fits) {
  OneRank run;
  for (int i = 0; i < 6400; ++i) run.call(Call::barrier_, i * 0.01 + 0.002, (i + 1) * 0.01, 0.004);
  EXPECT_LE(run.area->timeline.count, static_cast<uint32_t>(most_samples));
  EXPECT_GT(run.area->timeline.step, slice / 4);
  GroupSlices slices;
  ASSERT_TRUE(slices_of(*run.area, end, tick, slices));
  for (int s = 0; s < slice_count; ++s) {
    EXPECT_NEAR(part(slices, s, SlicePart::program), 0.2, 0.02) << s;
    EXPECT_NEAR(part(slices, s, SlicePart::collective), 0.4, 0.02) << s;
    EXPECT_NEAR(part(slices, s, SlicePart::waiting), 0.4, 0.02) << s;
  }
}

TEST(StatsTimeline, more_threads_than_time_are_scaled) {
  OneRank run;
  run.call(Call::init_, 0, 1, 0);
  run.area->blocks[0].rows[static_cast<int>(Call::put_)].ticks += 63 * slice;
  run.call(Call::send_, 1, 64, 0);
  GroupSlices slices;
  ASSERT_TRUE(slices_of(*run.area, end, tick, slices));
  expect_slice(slices, 40, 0, 0.5, 0, 0.5, 0);
}

TEST(StatsTimeline, nonsense_of_another_process_gives_finite_numbers) {
  OneRank run;
  run.call(Call::init_, 0, 1, 0);
  run.area->head.blocks_used = 1u << 31;
  Timeline& timeline = run.area->timeline;
  timeline.count = 1u << 31;
  uint64_t number = 88172645463325252ULL;
  for (Sample& sample : timeline.samples) {
    for (uint64_t* word : {&sample.at, &sample.ticks[0], &sample.ticks[2], &sample.idle[0]}) {
      number ^= number << 13;
      number ^= number >> 7;
      number ^= number << 17;
      *word = number >> (number & 63);
    }
  }
  GroupSlices slices;
  if (!slices_of(*run.area, end, tick, slices)) return;
  for (int s = 0; s < slice_count; ++s) {
    double all = 0;
    for (const float seconds : slices.seconds[s]) {
      EXPECT_GE(seconds, 0);
      all += seconds;
    }
    EXPECT_LE(all, slice * tick * 1.01) << s;
  }
}

TEST(StatsTimeline, groups_add_up_and_travel) {
  Report all;
  for (int32_t rank = 0; rank < 100; ++rank) {
    GroupSlices one{.group = group_of(rank, 100), .ranks = 1};
    one.seconds[3][0] = 2;
    Report report;
    report.timeline.push_back(one);
    Report travelled;
    ASSERT_TRUE(travelled.read(report.bytes()));
    all.add(travelled);
  }
  ASSERT_EQ(all.timeline.size(), 32U);
  int ranks = 0;
  for (const GroupSlices& group : all.timeline) {
    EXPECT_EQ(group.seconds[3][0], 2.0F * static_cast<float>(group.ranks));
    ranks += group.ranks;
  }
  EXPECT_EQ(ranks, 100);
  all.timeline[5].group = 32;
  Report refused;
  EXPECT_FALSE(refused.read(all.bytes()));
}

TEST(StatsTimeline, the_file_has_it_in_thousandths) {
  Report report;
  report.all.size = 100;
  report.all.run.take(0.5, 0);
  GroupSlices group{.group = 1, .ranks = 3};
  group.seconds[0][0] = 3;
  group.seconds[0][4] = 1;
  report.timeline.push_back(group);
  const std::string text = as_json(report, "");
  base::Json json;
  base::JsonProblem problem;
  ASSERT_TRUE(base::parse_json(text, json, problem)) << problem.what;
  const base::Json& written = json.find("timeline")->find("groups")->items[0];
  EXPECT_EQ(written.find("first")->text, "4");  // ranks 4, 5 and 6 are in group 1: 4 * 32 / 100
  EXPECT_EQ(written.find("ranks")->text, "3");
  ASSERT_EQ(written.find("slices")->items.size(), 64U);
  EXPECT_EQ(written.find("slices")->items[0].items[0].text, "750");
  EXPECT_EQ(written.find("slices")->items[0].items[4].text, "250");
  report.all.run = {};
  report.all.run.take(0.05, 0);
  EXPECT_EQ(as_json(report, "").find("timeline"), std::string::npos);
}

}  // namespace
}  // namespace weft::stats
