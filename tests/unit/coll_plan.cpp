// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The plans of collective operations for many ranks, in one process: schedules are planned for every rank of a
// communicator and their steps performed by a simulation, whose sends complete at once, or only when they are received.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "coll/plan.hpp"
#include "coll/schedule.hpp"
#include "datatype/pack.hpp"
#include "datatype/predefined.hpp"

namespace {

using namespace weft;
using coll::Array;
using coll::Block;
using coll::Blocks;
using coll::Schedule;
using coll::Step;
using core::Comm;
using Values = std::vector<int64_t>;

constexpr datatype::Type make_word() {
  datatype::Type type;
  type.committed = type.contiguous = type.predefined = true;
  type.basic = datatype::Basic::int64;
  type.size = type.extent = type.true_extent = type.block = 8;
  type.basic_count = 1;
  return type;
}
constinit datatype::Type word = make_word();

// An operation that tells in which order ranks were taken: sequences of ranks are joined, as pairs of their length (as
// a power of the hash's base) and their hash. It does not commute.
constexpr uint32_t base_of_hash = 31;
int64_t sequence_of(uint32_t rank) {
  return static_cast<int64_t>(uint64_t{base_of_hash} << 32 | (rank + 1));
}
int64_t joined(int64_t a, int64_t b) {
  const auto power_a = static_cast<uint32_t>(static_cast<uint64_t>(a) >> 32);
  const auto power_b = static_cast<uint32_t>(static_cast<uint64_t>(b) >> 32);
  const uint32_t hash = static_cast<uint32_t>(a) * power_b + static_cast<uint32_t>(b);
  return static_cast<int64_t>(uint64_t{power_a * power_b} << 32 | hash);
}
void join(const coll::Reducer&, const void* in, void* inout, int64_t count) {
  const auto* a = static_cast<const int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int64_t i = 0; i < count; ++i) b[i] = joined(a[i], b[i]);
}
int64_t joined_ranks(int first, int last) {
  int64_t all = sequence_of(static_cast<uint32_t>(first));
  for (int r = first + 1; r <= last; ++r) all = joined(all, sequence_of(static_cast<uint32_t>(r)));
  return all;
}

enum class Sends { complete_at_once, wait_for_receives };

class Simulation {
 public:
  explicit Simulation(int ranks) {
    for (int r = 0; r < ranks; ++r) {
      comms_.push_back(std::make_unique<Comm>());
      comms_.back()->rank = r;
      comms_.back()->size = ranks;
    }
  }

  // Plans for all ranks and performs the steps, round about; false when nobody can go on before all are done.
  bool run(Sends sends, const std::function<void(Schedule&, int)>& plan) {
    schedules_.clear();
    for (size_t r = 0; r < comms_.size(); ++r) {
      schedules_.push_back(std::make_unique<Schedule>(*comms_[r]));
      plan(*schedules_.back(), static_cast<int>(r));
    }
    states_.assign(comms_.size(), {});
    messages_.clear();
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t r = 0; r < comms_.size(); ++r) moved |= advance(r, sends);
    }
    for (size_t r = 0; r < comms_.size(); ++r) {
      if (states_[r].next != schedules_[r]->steps().size() || states_[r].open != 0) return false;
    }
    return true;
  }

  // Messages that nobody received.
  size_t left_over() const {
    size_t left = 0;
    for (const auto& [way, queue] : messages_) left += queue.size();
    return left;
  }

 private:
  struct State {
    size_t next = 0;
    int open = 0;  // sends and receives under way
    std::map<size_t, std::deque<Block>> receives;
  };
  struct Message {
    std::vector<char> data;
  };

  bool advance(size_t rank, Sends sends) {
    State& state = states_[rank];
    bool moved = false;
    for (auto& [from, posted] : state.receives) {
      auto& queue = messages_[{from, rank}];
      while (!posted.empty() && !queue.empty()) {
        const Block to = posted.front();
        EXPECT_EQ(to.bytes(), static_cast<int64_t>(queue.front().data.size()));
        datatype::unpack(*to.type, to.count, to.data, 0, queue.front().data.data(), to.bytes());
        posted.pop_front();
        queue.pop_front();
        --state.open;
        if (sends == Sends::wait_for_receives) --states_[from].open;
        moved = true;
      }
    }
    const auto& steps = schedules_[rank]->steps();
    while (state.next != steps.size()) {
      const Step& step = steps[state.next];
      if (step.kind == Step::Kind::fence && state.open != 0) break;
      perform(rank, step, sends);
      ++state.next;
      moved = true;
    }
    return moved;
  }

  void perform(size_t rank, const Step& step, Sends sends) {
    State& state = states_[rank];
    const auto other = static_cast<size_t>(step.rank);
    switch (step.kind) {
      case Step::Kind::send: {
        Message message;
        message.data.resize(static_cast<size_t>(step.from.bytes()));
        datatype::pack(*step.from.type, step.from.count, step.from.data, 0, message.data.data(), step.from.bytes());
        messages_[{rank, other}].push_back(std::move(message));
        if (sends == Sends::wait_for_receives) ++state.open;
        return;
      }
      case Step::Kind::receive:
        state.receives[other].push_back(step.to);
        ++state.open;
        return;
      case Step::Kind::copy:
        EXPECT_EQ(coll::copy_block(step.from, step.to), core::no_error);
        return;
      case Step::Kind::reduce:
        join({}, step.from.data, step.to.data, step.from.count);
        return;
      case Step::Kind::fence:
        return;
    }
  }

  std::vector<std::unique_ptr<Comm>> comms_;
  std::vector<std::unique_ptr<Schedule>> schedules_;
  std::vector<State> states_;
  std::map<std::pair<size_t, size_t>, std::deque<Message>> messages_;
};

Block words(Values& values) {
  return {values.data(), static_cast<int64_t>(values.size()), &word};
}

class Plans : public testing::TestWithParam<std::tuple<int, Sends>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }

  void run(const char* what, const std::function<void(Schedule&, int)>& plan) {
    Simulation simulation(ranks());
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
    std::vector<Values> data(static_cast<size_t>(ranks()), Values(3, 0));
    data[static_cast<size_t>(root)] = {1, 2, 3};
    run("bcast", [&](Schedule& s, int r) { coll::plan::bcast(s, words(data[static_cast<size_t>(r)]), root); });
    for (const Values& v : data) EXPECT_EQ(v, (Values{1, 2, 3}));
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

TEST_P(Plans, ReductionsKeepTheOrderOfRanks) {
  coll::Reducer reducer;
  reducer.type = &word;
  reducer.function = join;
  reducer.commutative = false;
  const auto n = static_cast<size_t>(ranks());
  constexpr int64_t count = 3;
  std::vector<Values> out(n), in(n, Values(count, 0));
  for (size_t r = 0; r < n; ++r) out[r] = Values(count, sequence_of(static_cast<uint32_t>(r)));
  auto reset = [&] { in.assign(n, Values(count, 0)); };
  const Values whole(count, joined_ranks(0, ranks() - 1));
  for (int root : some_roots()) {
    reset();
    run("reduce", [&](Schedule& s, int rank) {
      const auto r = static_cast<size_t>(rank);
      coll::plan::reduce(s, out[r].data(), in[r].data(), count, reducer, root);
    });
    EXPECT_EQ(in[static_cast<size_t>(root)], whole) << "root " << root;
  }
  using Plan = void (*)(Schedule&, const void*, void*, int64_t, const coll::Reducer&);
  auto to_all = [&](const char* what, Plan plan) {
    reset();
    run(what, [&](Schedule& s, int rank) {
      const auto r = static_cast<size_t>(rank);
      plan(s, out[r].data(), in[r].data(), count, reducer);
    });
  };
  to_all("allreduce", coll::plan::allreduce<Schedule>);
  for (const Values& v : in) EXPECT_EQ(v, whole);
  to_all("scan", coll::plan::scan<Schedule>);
  for (size_t r = 0; r < n; ++r) EXPECT_EQ(in[r], Values(count, joined_ranks(0, static_cast<int>(r))));
  to_all("exscan", coll::plan::exscan<Schedule>);
  for (size_t r = 1; r < n; ++r) EXPECT_EQ(in[r], Values(count, joined_ranks(0, static_cast<int>(r) - 1)));
}

TEST_P(Plans, ReduceScatterGivesEachItsPart) {
  coll::Reducer reducer;
  reducer.type = &word;
  reducer.function = join;
  reducer.commutative = false;
  const auto n = static_cast<size_t>(ranks());
  std::vector<Values> out(n), in(n, Values(2, 0));
  for (size_t r = 0; r < n; ++r) {
    out[r] = Values(2 * n, sequence_of(static_cast<uint32_t>(r)));
  }
  run("reduce_scatter", [&](Schedule& s, int rank) {
    const auto r = static_cast<size_t>(rank);
    coll::plan::reduce_scatter(s, out[r].data(), in[r].data(), Array(int64_t{2}), reducer);
  });
  for (const Values& v : in) EXPECT_EQ(v, Values(2, joined_ranks(0, ranks() - 1)));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Plans,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 31, 33, 40, 64, 100),
                                          testing::Values(Sends::complete_at_once, Sends::wait_for_receives)));

}  // namespace
