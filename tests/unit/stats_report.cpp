// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

#include "base/json.hpp"
#include "base/ticks.hpp"
#include "stats/file.hpp"
#include "stats/report.hpp"
#include "stats/text.hpp"

namespace weft::stats {
namespace {

// Area bytes behind which partners of a small job lie.
struct Memory {
  explicit Memory(int ranks) : bytes(area_bytes(ranks)) {
    area = static_cast<Area*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  ~Memory() { munmap(area, bytes); }
  size_t bytes;
  Area* area;
};

void begin(AreaHead& head, int rank, int size) {
  head.magic = magic;
  head.rank = rank;
  head.size = size;
  head.level = static_cast<uint32_t>(Level::full);
  const base::Moment now = base::this_moment();
  head.begun_ticks = now.ticks - 1000000000;
  head.begun_ns = now.ns - 1000000000;  // a tick is a nanosecond, more or less
  head.processors = 4;
  head.ranks_here = 2;
}

Report of_rank(int rank, uint64_t barrier_idle) {
  Memory memory(2);
  Area& area = *memory.area;
  begin(area.head, rank, 2);
  CounterBlock& block = area.blocks[0];
  block.threads = 1;
  block.ticks = 500000000;
  block.idle = barrier_idle;
  CallRow& barrier = block.rows[static_cast<int>(Call::barrier_)];
  barrier.calls = 100;
  barrier.ticks = 400000000;
  barrier.idle = barrier_idle;
  barrier.longest = 9000000 + 1000000 * static_cast<uint64_t>(rank);
  barrier.prompt = barrier_idle < 1000000 ? 95 : 3;
  barrier.sizes[0] = 100;
  CallRow& send = block.rows[static_cast<int>(Call::send_)];
  send.calls = 10;
  send.ticks = 100000;
  send.bytes = 10000;
  send.sizes[size_class(1000)] = 10;
  partners_of(&area)[1 - rank] = {.messages = 10, .bytes = 10000, .idle = 0, .idle_sends = 0};
  area.comms[3] = {.key = 8,
                   .size = 2,
                   .reserved = 0,
                   .name = "a\nname",
                   .calls = 5,
                   .ticks = 10,
                   .idle = 0,
                   .bytes = 1,
                   .padding = {}};
  return Report::of(area);
}

TEST(StatsReport, ranks_add_up) {
  Report report = of_rank(0, 390000000);
  report.add(of_rank(1, 1000));
  EXPECT_EQ(report.all.run.ranks, 2);
  const CallSum& barrier = report.calls[static_cast<size_t>(Call::barrier_)];
  EXPECT_EQ(barrier.calls, 200U);
  EXPECT_EQ(barrier.longest_rank, 1);
  EXPECT_EQ(barrier.idle.most_rank, 0);
  EXPECT_EQ(barrier.prompt.most_rank, 1);
  EXPECT_NEAR(barrier.seconds.sum, 0.8, 0.01);
  EXPECT_EQ(report.calls[static_cast<size_t>(Call::send_)].bytes, 20000U);
  ASSERT_EQ(report.pairs.size(), 2U);
  EXPECT_EQ(report.pairs[1].from, 1);
  EXPECT_EQ(report.pairs[1].to, 0);
  ASSERT_EQ(report.comms.size(), 1U);
  EXPECT_EQ(report.comms[0].calls, 10U);
  EXPECT_STREQ(report.comms[0].name, "a?name");
}

// Seconds outside of calls: those of the area's first second, and at most those that have passed since it was written.
void expect_outside(const AreaHead& head, double seconds, double of_first_second) {
  const double passed = static_cast<double>(base::this_moment().ns - head.begun_ns) / 1e9 - 1;
  EXPECT_GE(seconds, of_first_second - 0.01);
  EXPECT_LE(seconds, of_first_second + passed + 0.01);
}

TEST(StatsReport, time_without_a_processor_is_no_computing) {
  Memory memory(1);
  begin(memory.area->head, 0, 1);
  CounterBlock& block = memory.area->blocks[0];
  block.threads = 1;
  block.ticks = 600000000;  // of a second, 0.4 s of it asleep
  block.clock.asleep = 400000000;
  memory.area->head.queued_ns = 300000000;  // half of the time awake
  const Report report = Report::of(*memory.area);
  expect_outside(memory.area->head, report.all.outside.sum, 0.4);
  expect_outside(memory.area->head, report.all.computing.sum, 0.2);
  memory.area->head.queued_ns = 5000000000;
  EXPECT_EQ(Report::of(*memory.area).all.computing.sum, 0);
  block.clock.asleep = 3000000000;  // several threads
  expect_outside(memory.area->head, Report::of(*memory.area).all.computing.sum, 0.4);
}

TEST(StatsReport, the_late_rank_is_named_first) {
  Report report = of_rank(0, 390000000);
  report.add(of_rank(1, 1000));
  ASSERT_FALSE(advice(report).empty());
  EXPECT_NE(advice(report)[0].find("rank 1 is late in collective operations"), std::string::npos);
  EXPECT_NE(advice(report)[0].find("95 % of its calls of MPI_Barrier"), std::string::npos);
}

TEST(StatsReport, equal_ranks_give_no_advice) {
  Report report = of_rank(0, 1000);
  report.add(of_rank(1, 1000));
  EXPECT_TRUE(advice(report).empty()) << advice(report)[0];
}

TEST(StatsReport, a_call_under_way_counts_with_its_time) {
  Memory memory(1);
  begin(memory.area->head, 0, 1);
  CounterBlock& block = memory.area->blocks[2];
  block.threads = 1;
  block.now = 1 + static_cast<uint32_t>(Call::recv_);
  block.since = memory.area->head.begun_ticks;
  const Report report = Report::of(*memory.area);
  EXPECT_EQ(report.ranks[0].in_call, static_cast<int>(Call::recv_));
  EXPECT_NEAR(report.ranks[0].in_call_for, 1, 0.1);
  EXPECT_EQ(report.calls[static_cast<size_t>(Call::recv_)].calls, 1U);
  EXPECT_NEAR(report.all.share.most, 1, 0.01);
}

TEST(StatsReport, bytes_give_the_same_report) {
  Report report = of_rank(0, 390000000);
  report.add(of_rank(1, 1000));
  Report copy;
  ASSERT_TRUE(copy.read(report.bytes()));
  EXPECT_EQ(as_json(copy, ""), as_json(report, ""));
}

TEST(StatsReport, other_bytes_are_refused_or_harmless) {
  std::mt19937 random(7);
  const std::string good = of_rank(0, 1000).bytes();
  for (size_t length = 0; length < good.size(); length += 37) {
    Report report;
    EXPECT_FALSE(report.read(std::string_view(good).substr(0, length)));
  }
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 4; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    Report report;
    if (!report.read(bytes)) continue;
    Report sum = of_rank(1, 5);
    sum.add(report);
    EXPECT_FALSE(as_text(sum, "").empty());
    EXPECT_FALSE(as_json(sum, "").empty());
  }
}

TEST(StatsReport, garbage_in_an_area_is_harmless) {
  std::mt19937 random(11);
  Memory memory(2);
  for (int turn = 0; turn < 20; ++turn) {
    auto* words = reinterpret_cast<uint32_t*>(memory.area);
    for (size_t i = 0; i < memory.bytes / 4; ++i) words[i] = static_cast<uint32_t>(random());
    memory.area->head.magic = magic;
    memory.area->head.rank = 1;
    memory.area->head.size = 2;
    memory.area->head.level = 4;
    const Report report = Report::of(*memory.area);
    EXPECT_FALSE(as_text(report, "").empty());
    EXPECT_FALSE(as_json(report, "").empty());
  }
}

TEST(StatsReport, json_is_json) {
  base::Json value;
  base::JsonProblem problem;
  EXPECT_TRUE(base::parse_json(as_json(of_rank(0, 1000), "an \"end\""), value, problem)) << problem.what;
  EXPECT_TRUE(base::parse_json(as_json(Report{}, ""), value, problem)) << problem.what;
}

TEST(StatsReport, the_text_names_the_models_whose_calls_were_made) {
  const Report mpi = of_rank(0, 1000);
  Report shmem;
  shmem.calls[static_cast<size_t>(Call::shmem_put_)].calls = 1;
  Report both = mpi;
  both.add(shmem);
  const auto says = [](const Report& report, const char* words) {
    return as_text(report, "").find(words) != std::string::npos;
  };
  EXPECT_TRUE(says(mpi, "Weft: calls of MPI, ") && says(mpi, "  in MPI      ") && says(mpi, " MPI %"));
  EXPECT_TRUE(says(shmem, "Weft: calls of OpenSHMEM, ") && says(shmem, "  in calls    ") && says(shmem, " time %"));
  EXPECT_TRUE(says(both, "Weft: calls of MPI and OpenSHMEM, ") && says(both, "  in calls    "));
  EXPECT_STREQ(last_call(mpi), "MPI_Finalize");
  EXPECT_STREQ(last_call(shmem), "shmem_finalize");
  EXPECT_STREQ(last_call(both), "MPI_Finalize");
}

TEST(StatsReport, lists_have_a_bound) {
  Report report = of_rank(0, 1000);
  for (int i = 0; i < 3; ++i) {
    Report other;
    for (int32_t r = 0; r < 200000; ++r) other.pairs.push_back({r, i, 1, static_cast<uint64_t>(r), 0});
    report.add(other);
  }
  EXPECT_EQ(report.pairs.size(), most_pairs);
  EXPECT_EQ(report.all.lost, 600001 - most_pairs);
}

TEST(StatsFile, a_reader_finds_areas_that_have_begun) {
  const int fd = create_file();
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(is_file(fd));
  EXPECT_EQ(AreaFileReader(fd).count(), 0);
  const size_t stride = area_bytes(3);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(3 * stride)), 0);
  EXPECT_EQ(AreaFileReader(fd).count(), 0);
  AreaHead head{};
  begin(head, 1, 3);
  ASSERT_EQ(pwrite(fd, &head, sizeof head, static_cast<off_t>(stride)), static_cast<ssize_t>(sizeof head));
  AreaFileReader reading(fd);
  EXPECT_EQ(reading.count(), 3);
  EXPECT_EQ(reading.area(0), nullptr);
  ASSERT_NE(reading.area(1), nullptr);
  EXPECT_EQ(reading.area(1)->head.rank, 1);
  EXPECT_EQ(reading.area(3), nullptr);
  EXPECT_EQ(reading.area(-1), nullptr);
  // Found as this process's.
  const int again = open_file_of(getpid());
  EXPECT_GE(again, 0);
  close(again);
  head.size = 1 << 30;
  ASSERT_EQ(pwrite(fd, &head, sizeof head, static_cast<off_t>(stride)), static_cast<ssize_t>(sizeof head));
  EXPECT_EQ(AreaFileReader(fd).count(), 0);
  close(fd);
  EXPECT_EQ(open_file_of(getpid()), -1);
}

TEST(StatsFile, a_full_disk_is_told) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP();
  ReportProblem problem;
  const int nowhere = memfd_create("text", 0);
  char folder[] = "/tmp/test-stats-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string file = std::string(folder) + "/report";
  ASSERT_EQ(symlink("/dev/full", file.c_str()), 0);
  EXPECT_FALSE(write_report(of_rank(0, 1000), "", file, nowhere, problem));
  EXPECT_EQ(problem.error, ENOSPC);
  EXPECT_EQ(problem.file, file);
  EXPECT_GT(lseek(nowhere, 0, SEEK_END), 100);     // the text goes where errors go
  EXPECT_EQ(unlink((file + ".json").c_str()), 0);  // which was written
  EXPECT_EQ(unlink(file.c_str()), 0);
  EXPECT_EQ(rmdir(folder), 0);
  close(nowhere);
}

}  // namespace
}  // namespace weft::stats
