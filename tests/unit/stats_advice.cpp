// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The rules of advice, on numbers of runs that were made up.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "stats/report.hpp"
#include "stats/text.hpp"

namespace weft::stats {
namespace {

constexpr double run_seconds = 10;

// Ranks that compute for the time that is not in MPI.
struct Ranks {
  explicit Ranks(int count) {
    report.all.size = count;
    report.all.level = static_cast<uint32_t>(Level::full);
    report.all.processors = 64;
    for (int rank = 0; rank < count; ++rank) {
      report.all.run.take(run_seconds, rank);
      computes(rank, run_seconds / 2);
    }
  }
  void computes(int rank, double seconds) {
    report.all.outside.take(seconds, rank);
    report.all.computing.take(seconds, rank);
  }
  // Seconds of a rank in a call, and how long of that it waits.
  CallSum& in(Call call, int rank, double seconds, double idle) {
    CallSum& sum = report.calls[static_cast<size_t>(call)];
    constexpr uint64_t calls = 100;
    sum.calls += calls;
    sum.seconds.take(seconds, rank);
    sum.idle.take(idle, rank);
    sum.prompt.take(idle < 0.001 ? 1 : 0, rank);
    report.all.mpi.take(seconds, rank);
    report.all.idle.take(idle, rank);
    if (call_info[static_cast<int>(call)].kind == CallKind::collective) report.all.sync.take(idle, rank);
    return sum;
  }
  void site(Call call, const char* text, double idle) {
    SiteSum site{.call = static_cast<uint32_t>(call), .ranks = 1, .calls = 1, .seconds = idle, .idle = idle};
    snprintf(site.text, sizeof site.text, "%s", text);
    report.sites.push_back(site);
  }
  void waits(int from, int to, double messages, double receives = 0) {
    report.pairs.push_back({from, to, 1, 1, messages, receives});
  }
  [[nodiscard]] std::string first() const {
    const std::vector<std::string> lines = advice(report);
    return lines.empty() ? "" : lines[0];
  }
  [[nodiscard]] bool says(const std::string& part) const {
    for (const std::string& line : advice(report)) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }

  Report report;
};

// Rank r waits r times as long for the rank before it; all wait in a barrier.
Ranks in_row(double last, double step) {
  Ranks ranks(4);
  for (int r = 0; r < 4; ++r) {
    ranks.in(Call::recv_, r, last - step * (3 - r), last - step * (3 - r));
    ranks.in(Call::barrier_, r, step * (3 - r), step * (3 - r));
    if (r > 0) ranks.waits(r, r - 1, last - step * (3 - r));
  }
  ranks.site(Call::recv_, "shift+0x12 program+0x1234", 3);
  return ranks;
}

TEST(StatsAdvice, a_serialised_order_is_named_with_its_place) {
  const Ranks ranks = in_row(3, 1);
  EXPECT_EQ(
      ranks.first(),
      "messages pass from rank to rank one after the other: rank 3 waits for 2 (3.000 s), that waits for 1 (2.000 "
      "s), that waits for 0 (1.000 s) (most of it in MPI_Recv at shift+0x12 program+0x1234): let ranks send before "
      "they receive (MPI_Isend, MPI_Sendrecv), or odd ranks in the other order");
  EXPECT_FALSE(ranks.says("is late in collective operations"));
  EXPECT_FALSE(ranks.says("for messages of rank"));
}

TEST(StatsAdvice, ranks_that_wait_as_long_for_a_slow_one_are_no_serialised_order) {
  Ranks ranks(4);
  for (int r = 1; r < 4; ++r) {
    ranks.in(Call::recv_, r, 3, 3);
    ranks.waits(r, r - 1, 3);
  }
  EXPECT_FALSE(ranks.says("one after the other"));
  EXPECT_TRUE(ranks.says("for messages of rank"));
  EXPECT_FALSE(in_row(0.5, 0.1).says("one after the other")) << "too short to be worth a change";
}

TEST(StatsAdvice, ranks_that_wait_for_each_other_are_no_serialised_order) {
  for (const int ranks_of_job : {2, 3, 4}) {
    Ranks ranks(ranks_of_job);
    double seconds = 4;
    for (int r = 0; r < ranks_of_job; ++r) {
      ranks.in(Call::recv_, r, 5, seconds);
      ranks.waits(r, (r + 1) % ranks_of_job, seconds);
      seconds /= 1.5;
    }
    EXPECT_FALSE(ranks.says("one after the other")) << ranks_of_job;
  }
}

TEST(StatsAdvice, ranks_that_share_processors_are_not_late) {
  Ranks ranks = in_row(3, 1);
  ranks.in(Call::send_, 0, 4, 3.9);
  ranks.waits(0, 1, 3, 3.9);
  ranks.report.all.crowded = 4;
  ranks.report.all.processors = 2;
  EXPECT_NE(ranks.first().find("4 ranks share processors"), std::string::npos);
  EXPECT_FALSE(ranks.says("one after the other"));
  EXPECT_FALSE(ranks.says("for messages of rank"));
  EXPECT_FALSE(ranks.says("receives are posted late"));
}

TEST(StatsAdvice, ranks_whose_processors_others_use_are_not_late) {
  Ranks ranks = in_row(3, 1);
  ranks.in(Call::send_, 0, 4, 3.9);
  ranks.waits(0, 1, 3, 3.9);
  ranks.report.all.queued = 0.3 * 4 * run_seconds;
  EXPECT_NE(ranks.first().find("other programs use the processors: ranks were ready to run and had none 30 %"),
            std::string::npos);
  EXPECT_FALSE(ranks.says("one after the other"));
  EXPECT_FALSE(ranks.says("for messages of rank"));
  EXPECT_FALSE(ranks.says("receives are posted late"));
}

TEST(StatsAdvice, waits_no_longer_than_ranks_had_no_processor_are_not_late) {
  const auto says = [](double queued) {
    Ranks ranks(2);
    ranks.in(Call::send_, 0, 2.5, 2.4);
    ranks.waits(0, 1, 2.4, 2.4);
    ranks.in(Call::barrier_, 0, 1.5, 1.5);
    ranks.in(Call::barrier_, 1, 0, 0);
    ranks.computes(1, 9);
    ranks.report.all.queued = queued;
    std::vector<bool> said;
    for (const char* what : {"receives are posted late", "for messages of rank", "is late in collective operations"})
      said.push_back(ranks.says(what));
    return said;
  };
  EXPECT_EQ(says(0), std::vector<bool>(3, true));
  EXPECT_EQ(says(1.9), std::vector<bool>(3, false)) << "9.5 % of the time of the ranks";
}

// NAS MG, class A, with two ranks on a host whose two processors ten other programs wanted.
TEST(StatsAdvice, a_recorded_run_on_a_busy_host_has_no_late_receives) {
  Ranks ranks(2);
  Totals& all = ranks.report.all;
  all.run = all.outside = all.computing = {};
  all.run.take(4.775, 0);
  all.run.take(4.786, 1);
  ranks.computes(0, 2.763);
  ranks.computes(1, 3.705);
  ranks.in(Call::send_, 0, 1.722, 1.695);
  CallSum& sends = ranks.in(Call::send_, 1, 0.906, 0.887);
  sends.calls = 1428;
  sends.bytes = 102062208;
  ranks.in(Call::wait_, 0, 0.053, 0.052);
  ranks.in(Call::wait_, 1, 0.048, 0.047);
  ranks.waits(0, 1, 0.052, 1.695);
  ranks.waits(1, 0, 0.047, 0.887);
  all.queued = 6.022;
  EXPECT_NE(ranks.first().find("other programs use the processors: ranks were ready to run and had none 63 %"),
            std::string::npos)
      << ranks.first();
  EXPECT_FALSE(ranks.says("receives are posted late"));
  EXPECT_FALSE(ranks.says("computes"));
  all.queued = 0;
  EXPECT_TRUE(ranks.says("receives are posted late")) << "else the rule is not what keeps it out";
}

// Four ranks on processors of which other programs take a half.
TEST(StatsAdvice, uneven_work_is_named_on_a_busy_host_too) {
  Ranks ranks(4);
  Totals& all = ranks.report.all;
  all.outside = all.computing = {};
  for (int r = 0; r < 4; ++r) {
    all.outside.take(r == 2 ? 8 : 2, r);
    all.computing.take(r == 2 ? 4 : 1, r);
    ranks.in(Call::barrier_, r, r == 2 ? 0 : 6, r == 2 ? 0 : 6);
  }
  all.queued = 4 + 3 * 4;
  EXPECT_TRUE(ranks.says("work is uneven: rank 2 computes 4.000 s, the mean is 1.750 s"));
  EXPECT_TRUE(ranks.says("other programs use the processors"));
  all.queued = 0;
  EXPECT_FALSE(ranks.says("work is uneven")) << "one line is enough for a rank";
  EXPECT_TRUE(ranks.says("rank 2 is late in collective operations"));
  EXPECT_TRUE(ranks.says("It computes 2.29 times as long as the mean"));
}

TEST(StatsAdvice, other_programs_make_no_work_uneven) {
  Ranks ranks(4);
  Totals& all = ranks.report.all;
  all.outside = all.computing = {};
  for (int r = 0; r < 4; ++r) {
    all.outside.take(r == 2 ? 8 : 2, r);
    all.computing.take(2, r);
  }
  all.queued = 6;
  EXPECT_FALSE(ranks.says("work is uneven"));
}

TEST(StatsAdvice, a_rank_that_is_late_a_few_times_has_to_cost_much_time) {
  for (const double late : {1.0, 3.0}) {
    Ranks ranks(2);
    ranks.in(Call::barrier_, 0, late, late).calls = 6;
    ranks.in(Call::barrier_, 1, 0, 0).calls = 12;
    EXPECT_EQ(ranks.says("rank 1 is late in collective operations"), late > 2) << late;
  }
}

TEST(StatsAdvice, messages_that_came_early_cost_work_in_receives_or_nothing) {
  for (const double idle : {3.0, 0.1}) {
    Ranks ranks(2);
    ranks.report.all.path_messages[0] = 10000;
    ranks.report.all.unexpected = 9000;
    ranks.in(Call::recv_, 0, 3.1, idle);
    EXPECT_EQ(ranks.says("came before their receive"), idle < 1) << idle;
  }
}

TEST(StatsAdvice, late_receives_are_named_with_the_rank_that_posts_them) {
  Ranks ranks(2);
  ranks.in(Call::send_, 0, 4, 3.9).bytes = 100000000;
  ranks.waits(0, 1, 0, 3.9);
  ranks.site(Call::send_, "give+0x1 program+0x10", 3.9);
  EXPECT_EQ(
      ranks.first(),
      "receives are posted late: sends wait 3.798 s for them, most in MPI_Send (rank 0 3.900 s); rank 0 waits 3.900 s "
      "for receives of rank 1 (most of it in MPI_Send at give+0x1 program+0x10): let the receiver post them "
      "(MPI_Irecv) before its work, or send with MPI_Isend");
}

TEST(StatsAdvice, a_send_that_waits_while_its_data_are_copied_is_not_late) {
  Ranks ranks(2);
  ranks.in(Call::send_, 0, 4, 3.9).bytes = 4000000000;
  EXPECT_FALSE(ranks.says("receives are posted late"));
}

TEST(StatsAdvice, broadcasts_from_one_rank_after_the_other_are_an_allgather) {
  Ranks ranks(4);
  for (int r = 0; r < 4; ++r) ranks.in(Call::bcast_, r, 3, 2).turns += 75;
  ranks.site(Call::bcast_, "share+0x1 program+0x10", 8);
  EXPECT_EQ(
      ranks.first(),
      "MPI_Bcast takes 30 % of the time and has one rank after the other as its root, at once, in 75 % of its calls "
      "(most of it in MPI_Bcast at share+0x1 program+0x10): one call of MPI_Allgather (or MPI_Allgatherv) does that");
  Ranks others(4);
  for (int r = 0; r < 4; ++r) others.in(Call::bcast_, r, 3, 2).turns += 25;
  EXPECT_FALSE(others.says("as its root"));
}

// Ranks that broadcast without waiting: so many bytes, in calls of these classes.
Ranks in_broadcasts(uint64_t bytes, const std::vector<std::pair<int, uint64_t>>& classes) {
  Ranks ranks(4);
  CallSum& sum = ranks.in(Call::bcast_, 0, 5, 0);
  for (int r = 1; r < 4; ++r) ranks.in(Call::bcast_, r, 5, 0);
  sum.bytes = bytes;
  for (const auto& [size_class, calls] : classes) sum.sizes[size_class] = calls;
  return ranks;
}

TEST(StatsAdvice, calls_of_one_size_are_named_by_it) {
  EXPECT_TRUE(in_broadcasts(400 * 40960, {{16, 400}}).says("MPI_Bcast of 40.0 KiB takes 50 % of the time"));
}

TEST(StatsAdvice, operations_without_data_get_no_other_algorithm) {
  EXPECT_FALSE(in_broadcasts(0, {{0, 400}}).says("MPI_Bcast"));
}

TEST(StatsAdvice, time_without_a_processor_is_no_work_of_an_operation) {
  Ranks ranks = in_broadcasts(400 * 40960, {{16, 400}});
  ranks.report.all.queued = 15;  // of 20 seconds in MPI_Bcast
  EXPECT_TRUE(ranks.says("MPI_Bcast of 40.0 KiB takes"));
  ranks.report.all.queued = 17;
  EXPECT_FALSE(ranks.says("MPI_Bcast"));
}

TEST(StatsAdvice, calls_of_several_sizes_are_named_by_the_range_and_not_by_the_mean) {
  EXPECT_TRUE(in_broadcasts(90 * 65536 + 310, {{0, 310}, {17, 90}})
                  .says("MPI_Bcast of 0 B to 128.0 KiB (78 % of the calls no data) takes 50 % of the time"));
  EXPECT_TRUE(in_broadcasts(300 * 12 + 100 * 512, {{4, 300}, {10, 100}})
                  .says("MPI_Bcast of 8 B to 1023 B (75 % of the calls 8 B to 15 B) takes 50 % of the time"));
}

}  // namespace
}  // namespace weft::stats
