// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The plans of collective operations, for many numbers of ranks, on one host and several, by every algorithm: they end,
// and everything arrives where it belongs.
#include "coll/algorithm/chain.hpp"
#include "coll_simulation.hpp"

namespace {

using namespace weft;
using namespace weft::test;

TEST(Alltoall, HasSomeRequestsUnderWayAtATime) {
  const coll::Row row{coll::Collective::alltoall, coll::Algorithm::pairwise};
  const coll::Choices choices = coll::compile({.ranks = 1000}, {&row, 1});
  core::Comm comm;
  comm.size = 1000;
  comm.rank = 3;
  comm.choices = &choices;
  Values in(1000), out(1000);
  Schedule schedule(comm);
  coll::plan::alltoall(schedule, Blocks(in.data(), 1, word), Blocks(out.data(), 1, word));
  int sends = 0, most = 0, all = 0;
  for (const coll::Step& step : schedule.steps()) {
    if (step.kind == coll::Step::StepKind::fence) sends = 0;
    if (step.kind != coll::Step::StepKind::send) continue;
    most = std::max(most, ++sends);
    ++all;
  }
  EXPECT_EQ(all, 999);
  EXPECT_LE(most, 256);
}

// More data than goes in one piece, in the order of ranks.
TEST(Chain, HandsOnPieces) {
  constexpr size_t ranks = 5;
  constexpr size_t length = 20000;
  std::vector<Values> out, in;
  for (size_t r = 0; r < ranks; ++r) out.emplace_back(length, sequence_of(static_cast<uint32_t>(r)));
  for (bool in_place : {false, true}) {
    for (bool inclusive : {false, true}) {
      in = in_place ? out : std::vector<Values>(ranks, Values(length, 0));
      Simulation simulation(std::vector<int32_t>(ranks, 0), joining, false, Rows::others);
      const auto plan = [&](Schedule& s, int rank) {
        const auto r = static_cast<size_t>(rank);
        void* receive = !inclusive && rank == 0 ? nullptr : in[r].data();
        const void* send = in_place && receive != nullptr ? receive : out[r].data();
        inclusive ? coll::plan::scan(s, send, receive, length, joining)
                  : coll::plan::exscan(s, send, receive, length, joining);
        if (rank == 2) {
          EXPECT_GT(s.steps().size(), length * sizeof(int64_t) / coll::plan::chain_piece * 3);
        }
      };
      ASSERT_TRUE(simulation.run(Sends::wait_for_receives, plan));
      for (size_t r = inclusive ? 0 : 1; r < ranks; ++r) {
        EXPECT_EQ(in[r], Values(length, joined_ranks(0, static_cast<int>(r) - (inclusive ? 0 : 1))));
      }
    }
  }
}

class Plans : public testing::TestWithParam<std::tuple<int, Sends, Layout, Rows>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  // Elements of a rank's data: a few, or so many that they can be split among the ranks.
  int64_t elements() const { return std::get<3>(GetParam()) == Rows::of_default ? 3 : 2 * ranks() + 1; }

  void run(const char* what, const std::function<void(Schedule&, int)>& plan, const coll::Reducer& reducer = joining) {
    Simulation simulation(place(std::get<2>(GetParam()), ranks()), reducer, true, std::get<3>(GetParam()));
    EXPECT_TRUE(simulation.run(std::get<1>(GetParam()), plan)) << what << " is stuck with " << ranks() << " ranks";
    EXPECT_EQ(simulation.left_over(), 0U) << what;
  }

  std::vector<int> some_roots() const { return {0, ranks() / 2, ranks() - 1}; }
};

TEST_P(Plans, BarrierEnds) {
  run("barrier", [](Schedule& s, int) { coll::plan::barrier(s); });
}

TEST_P(Plans, BcastReachesAll) {
  for (int root : some_roots()) {
    Values sent(static_cast<size_t>(elements()));
    for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<int64_t>(i + 1);
    std::vector<Values> data(static_cast<size_t>(ranks()), Values(sent.size(), 0));
    data[static_cast<size_t>(root)] = sent;
    run("bcast", [&](Schedule& s, int r) { coll::plan::bcast(s, words(data[static_cast<size_t>(r)]), root); });
    for (const Values& v : data) EXPECT_EQ(v, sent);
  }
}

// Odd ranks have their data with gaps.
TEST_P(Plans, BcastReachesAllWhateverTheirTypes) {
  const auto count = static_cast<size_t>(elements());
  std::vector<Values> data(static_cast<size_t>(ranks()), Values(2 * count, -1));
  for (int root : some_roots()) {
    auto step = [](int rank) { return rank % 2 == 0 ? size_t{1} : size_t{2}; };
    for (Values& v : data) v.assign(2 * count, -1);
    for (size_t i = 0; i < count; ++i) data[static_cast<size_t>(root)][i * step(root)] = static_cast<int64_t>(i + 1);
    run("bcast", [&](Schedule& s, int r) {
      auto& type = step(r) == 1 ? word : wide;
      coll::plan::bcast(s, Block{data[static_cast<size_t>(r)].data(), static_cast<int64_t>(count), &type}, root);
    });
    for (int r = 0; r < ranks(); ++r) {
      const Values& v = data[static_cast<size_t>(r)];
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(v[i * step(r)], static_cast<int64_t>(i + 1)) << r;
      for (size_t i = 1; step(r) == 2 && i < 2 * count; i += 2) ASSERT_EQ(v[i], -1) << r;
    }
  }
}

TEST_P(Plans, BlocksGoWhereTheyBelong) {
  const auto n = static_cast<size_t>(ranks());
  for (size_t count : {size_t{2}, size_t{200}}) {
    std::vector<Values> mine(n, Values(count)), all(n, Values(n * count)), from(n, Values(n * count));
    for (size_t r = 0; r < n; ++r) {
      for (size_t i = 0; i < count; ++i) mine[r][i] = static_cast<int64_t>(r * 1000 + i);
      for (size_t i = 0; i < n * count; ++i) from[r][i] = static_cast<int64_t>(r * 1000000 + i);
    }
    auto blocks = [&](Values& v) { return Blocks(v.data(), static_cast<int64_t>(count), word); };
    run("allgather", [&](Schedule& s, int rank) {
      const auto r = static_cast<size_t>(rank);
      coll::plan::allgather(s, words(mine[r]), blocks(all[r]));
    });
    for (size_t r = 0; r < n; ++r) {
      for (size_t i = 0; i < n * count; ++i) {
        ASSERT_EQ(all[r][i], static_cast<int64_t>(i / count * 1000 + i % count));
      }
    }
    for (int root : some_roots()) {
      const auto top = static_cast<size_t>(root);
      for (bool in_place : {false, true}) {
        // The others know no more of `all` than the size.
        auto of_root = [&](Values& v, size_t r) {
          return r == top ? blocks(v) : Blocks(nullptr, words(mine[r]).count, word);
        };
        Values gathered(n * count), dealt = from[top];
        std::copy(mine[top].begin(), mine[top].end(), gathered.begin() + static_cast<int64_t>(top * count));
        run("gather", [&](Schedule& s, int rank) {
          const auto r = static_cast<size_t>(rank);
          coll::plan::gather(s, in_place && r == top ? Block() : words(mine[r]), of_root(gathered, r), root);
        });
        EXPECT_EQ(gathered, all[0]) << "root " << root;
        std::vector<Values> parts(n, Values(count));
        run("scatter", [&](Schedule& s, int rank) {
          const auto r = static_cast<size_t>(rank);
          coll::plan::scatter(s, of_root(dealt, r), in_place && r == top ? Block() : words(parts[r]), root);
        });
        EXPECT_EQ(dealt, from[top]);
        for (size_t i = 0; i < n * count; ++i) {
          if (in_place && i / count == top) continue;
          ASSERT_EQ(parts[i / count][i % count], from[top][i]) << "root " << root;
        }
      }
    }
    run("alltoall", [&](Schedule& s, int rank) {
      const auto r = static_cast<size_t>(rank);
      coll::plan::alltoall(s, blocks(from[r]), blocks(all[r]));
    });
    std::vector<Values> in_place = from;
    run("alltoall in place",
        [&](Schedule& s, int rank) { coll::plan::alltoall(s, Blocks(), blocks(in_place[static_cast<size_t>(rank)])); });
    EXPECT_EQ(in_place, all);
    for (size_t r = 0; r < n; ++r) {
      for (size_t i = 0; i < n * count; ++i) {
        ASSERT_EQ(all[r][i], static_cast<int64_t>(i / count * 1000000 + r * count + i % count));
      }
    }
  }
}

// All ranks know the sizes of all blocks; some are empty.
TEST_P(Plans, BlocksOfDifferentSizesGoToAll) {
  const auto n = static_cast<size_t>(ranks());
  std::vector<int64_t> counts, places;
  int64_t total = 0;
  for (size_t r = 0; r < n; ++r) {
    counts.push_back(r % 3 == 1 ? 0 : static_cast<int64_t>(r % 5 + 1));
    places.push_back(total);
    total += counts[r] + 1;  // and a gap
  }
  std::vector<Values> mine(n), all(n, Values(static_cast<size_t>(total), -1));
  Values wanted(static_cast<size_t>(total), -1);
  for (size_t r = 0; r < n; ++r) {
    for (int64_t i = 0; i < counts[r]; ++i) {
      mine[r].push_back(static_cast<int64_t>(r * 1000) + i);
      wanted[static_cast<size_t>(places[r] + i)] = mine[r].back();
    }
  }
  run("allgatherv", [&](Schedule& s, int rank) {
    const auto r = static_cast<size_t>(rank);
    coll::plan::allgather(s, words(mine[r]), Blocks(all[r].data(), Array(counts.data()), Array(places.data()), word));
  });
  for (const Values& v : all) EXPECT_EQ(v, wanted);
}

// Only the root knows the sizes of all blocks: some are empty, some too large for a tree's slots.
TEST_P(Plans, BlocksOfDifferentSizesGoWhereTheyBelong) {
  const auto n = static_cast<size_t>(ranks());
  const auto words_of = [](size_t r) { return static_cast<int64_t>(r % 3 == 0 ? 0 : r % 4 == 1 ? 20 : r % 7); };
  std::vector<int64_t> counts, places;
  int64_t total = 0;
  for (size_t r = 0; r < n; ++r) {
    counts.push_back(words_of(r));
    places.push_back(total);
    total += words_of(r) + 1;  // and a gap
  }
  std::vector<Values> mine(n);
  for (int root : some_roots()) {
    Values all(static_cast<size_t>(total), -1);
    for (size_t r = 0; r < n; ++r) {
      mine[r].resize(static_cast<size_t>(words_of(r)));
      for (size_t i = 0; i < mine[r].size(); ++i) mine[r][i] = static_cast<int64_t>(r * 1000 + i);
    }
    const auto blocks_at = [&](int rank) {
      return rank == root ? Blocks(all.data(), Array(counts.data()), Array(places.data()), word)
                          : Blocks(nullptr, Array(), Array(), word);
    };
    run("gatherv",
        [&](Schedule& s, int r) { coll::plan::gather(s, words(mine[static_cast<size_t>(r)]), blocks_at(r), root); });
    for (size_t r = 0; r < n; ++r) {
      for (size_t i = 0; i < static_cast<size_t>(counts[r]); ++i) {
        ASSERT_EQ(all[static_cast<size_t>(places[r]) + i], static_cast<int64_t>(r * 1000 + i));
      }
      ASSERT_EQ(all[static_cast<size_t>(places[r] + counts[r])], -1);
    }
    for (Values& v : mine) std::fill(v.begin(), v.end(), 0);
    run("scatterv",
        [&](Schedule& s, int r) { coll::plan::scatter(s, blocks_at(r), words(mine[static_cast<size_t>(r)]), root); });
    for (size_t r = 0; r < n; ++r) {
      for (size_t i = 0; i < mine[r].size(); ++i) ASSERT_EQ(mine[r][i], static_cast<int64_t>(r * 1000 + i));
    }
  }
}

TEST_P(Plans, ReductionsKeepTheOrderOfRanks) {
  const auto n = static_cast<size_t>(ranks());
  const int64_t count = elements();
  std::vector<Values> out(n), in(n, Values(static_cast<size_t>(count), 0));
  const auto length = static_cast<size_t>(count);
  for (size_t r = 0; r < n; ++r) out[r] = Values(length, sequence_of(static_cast<uint32_t>(r)));
  auto reset = [&] { in.assign(n, Values(length, 0)); };
  const Values whole(length, joined_ranks(0, ranks() - 1));
  for (int root : some_roots()) {
    reset();
    run("reduce", [&](Schedule& s, int rank) {
      const auto r = static_cast<size_t>(rank);
      coll::plan::reduce(s, out[r].data(), in[r].data(), count, joining, root);
    });
    EXPECT_EQ(in[static_cast<size_t>(root)], whole) << "root " << root;
  }
  using Plan = void (*)(Schedule&, const void*, void*, int64_t, const coll::Reducer&);
  auto to_all = [&](const char* what, Plan plan) {
    reset();
    run(what, [&](Schedule& s, int rank) {
      const auto r = static_cast<size_t>(rank);
      plan(s, out[r].data(), in[r].data(), count, joining);
    });
  };
  to_all("allreduce", coll::plan::allreduce<Schedule>);
  for (const Values& v : in) EXPECT_EQ(v, whole);
  to_all("scan", coll::plan::scan<Schedule>);
  for (size_t r = 0; r < n; ++r) EXPECT_EQ(in[r], Values(length, joined_ranks(0, static_cast<int>(r))));
  to_all("exscan", coll::plan::exscan<Schedule>);
  for (size_t r = 1; r < n; ++r) EXPECT_EQ(in[r], Values(length, joined_ranks(0, static_cast<int>(r) - 1)));
}

// Each rank's data once, in any order; in place too.
TEST_P(Plans, ReductionsThatCommute) {
  const auto n = static_cast<size_t>(ranks());
  const int64_t count = elements();
  const auto length = static_cast<size_t>(count);
  std::vector<Values> out(n, Values(length)), in;
  Values sum(length, 0);
  for (size_t r = 0; r < n; ++r) {
    for (size_t i = 0; i < length; ++i) sum[i] += out[r][i] = static_cast<int64_t>((r + 1) * (r + 1) * 1000 + i);
  }
  for (bool in_place : {false, true}) {
    auto reset = [&] { in = in_place ? out : std::vector<Values>(n, Values(length, 0)); };
    auto sent = [&](size_t r) { return in_place ? in[r].data() : out[r].data(); };
    for (int root : some_roots()) {
      reset();
      auto plan = [&](Schedule& s, int rank) {
        const auto r = static_cast<size_t>(rank);
        const bool takes = rank == root;  // the others have no buffer for a result
        coll::plan::reduce(s, takes ? sent(r) : out[r].data(), takes ? in[r].data() : nullptr, count, adding, root);
      };
      run("reduce", plan, adding);
      EXPECT_EQ(in[static_cast<size_t>(root)], sum) << "root " << root;
    }
    reset();
    auto plan = [&](Schedule& s, int rank) {
      const auto r = static_cast<size_t>(rank);
      coll::plan::allreduce(s, sent(r), in[r].data(), count, adding);
    };
    run("allreduce", plan, adding);
    for (const Values& v : in) EXPECT_EQ(v, sum);
  }
}

TEST_P(Plans, ReduceScatterGivesEachItsPart) {
  const auto n = static_cast<size_t>(ranks());
  std::vector<Values> out(n), in(n, Values(2, 0));
  for (size_t r = 0; r < n; ++r) {
    out[r] = Values(2 * n, sequence_of(static_cast<uint32_t>(r)));
  }
  run("reduce_scatter", [&](Schedule& s, int rank) {
    const auto r = static_cast<size_t>(rank);
    coll::plan::reduce_scatter(s, out[r].data(), in[r].data(), Array(int64_t{2}), joining);
  });
  for (const Values& v : in) EXPECT_EQ(v, Values(2, joined_ranks(0, ranks() - 1)));
}

// Rank r gets r % 3 elements, none some of them; in place too.
TEST_P(Plans, ReduceScatterOfUnevenParts) {
  const auto n = static_cast<size_t>(ranks());
  std::vector<int64_t> counts(n), starts(n);
  int64_t total = 0;
  for (size_t r = 0; r < n; ++r) {
    counts[r] = static_cast<int64_t>(r % 3);
    starts[r] = total;
    total += counts[r];
  }
  for (bool in_place : {false, true}) {
    std::vector<Values> out(n, Values(static_cast<size_t>(total) + 1)), in(n, Values(2, -1));
    Values sum(out[0].size(), 0);
    for (size_t r = 0; r < n; ++r) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += out[r][i] = static_cast<int64_t>((r + 1) * (r + 1) * 1000 + i);
    }
    auto plan = [&](Schedule& s, int rank) {
      const auto r = static_cast<size_t>(rank);
      int64_t* to = in_place ? out[r].data() : in[r].data();
      coll::plan::reduce_scatter(s, out[r].data(), to, Array(counts.data()), adding);
    };
    run("reduce_scatter", plan, adding);
    for (size_t r = 0; r < n; ++r) {
      const Values& got = in_place ? out[r] : in[r];
      for (int64_t i = 0; i < counts[r]; ++i) {
        ASSERT_EQ(got[static_cast<size_t>(i)], sum[static_cast<size_t>(starts[r] + i)]) << "rank " << r;
      }
      if (in_place) continue;
      EXPECT_EQ(counts[r] == 2 || in[r][1] == -1, true) << "rank " << r;
    }
  }
}

constexpr auto all_sends = {Sends::complete_at_once, Sends::wait_for_receives};
INSTANTIATE_TEST_SUITE_P(Sizes, Plans,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31, 33, 40, 64, 100),
                                          testing::ValuesIn(all_sends), testing::Values(Layout::one_host),
                                          testing::Values(Rows::of_default)));
INSTANTIATE_TEST_SUITE_P(Hosts, Plans,
                         testing::Combine(testing::Values(3, 4, 5, 6, 8, 9, 13, 24, 37, 70),
                                          testing::ValuesIn(all_sends),
                                          testing::Values(Layout::blocks, Layout::dealt, Layout::folded,
                                                          Layout::growing, Layout::lone_last, Layout::scattered),
                                          testing::Values(Rows::of_default)));
INSTANTIATE_TEST_SUITE_P(
    Algorithms, Plans,
    testing::Combine(testing::Values(1, 2, 3, 4, 5, 7, 8, 13, 16, 37), testing::ValuesIn(all_sends),
                     testing::Values(Layout::one_host, Layout::blocks, Layout::dealt, Layout::growing),
                     testing::Values(Rows::others, Rows::rest)));

}  // namespace
