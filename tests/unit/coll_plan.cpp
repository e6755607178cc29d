// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The plans of collective operations for many ranks, in one process: schedules are planned for every rank of a
// communicator and their steps performed by a simulation, whose sends complete at once, or only when they are received.
// Ranks are on one host or several, and messages between hosts are counted.
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "coll/plan.hpp"
#include "coll/schedule.hpp"
#include "coll/select.hpp"
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
  type.size = type.extent = type.true_extent = type.nest.block = 8;
  type.basic_count = 1;
  return type;
}
constinit datatype::Type word = make_word();

// A word, and room for another one behind it.
constexpr datatype::Type make_wide() {
  datatype::Type type = make_word();
  type.contiguous = false;
  type.extent = 16;
  return type;
}
constinit datatype::Type wide = make_wide();

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
void join(const coll::Reducer& /*self*/, const void* in, void* inout, int64_t count) {
  const auto* a = static_cast<const int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int64_t i = 0; i < count; ++i) b[i] = joined(a[i], b[i]);
}
void add(const coll::Reducer& /*self*/, const void* in, void* inout, int64_t count) {
  const auto* a = static_cast<const int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int64_t i = 0; i < count; ++i) b[i] += a[i];
}
coll::Reducer reducer_of(void (*function)(const coll::Reducer&, const void*, void*, int64_t), bool commutative) {
  coll::Reducer reducer;
  reducer.type = &word;
  reducer.function = function;
  reducer.commutative = commutative;
  return reducer;
}
const coll::Reducer joining = reducer_of(join, false);
const coll::Reducer adding = reducer_of(add, true);

int64_t joined_ranks(int first, int last) {
  int64_t all = sequence_of(static_cast<uint32_t>(first));
  for (int r = first + 1; r <= last; ++r) all = joined(all, sequence_of(static_cast<uint32_t>(r)));
  return all;
}

// How ranks are placed on hosts. As launchers and orders of ranks do it: neighbours together, dealt in turn, and back
// and forth; hosts with one rank, two, three and so on; one host with all but the last rank; and at random.
enum class Layout { one_host, blocks, dealt, folded, growing, lone_last, scattered };

std::vector<int32_t> place(Layout layout, int ranks) {
  std::vector<int32_t> hosts;
  std::minstd_rand random(static_cast<unsigned>(ranks));
  int host = 0;
  int left = 1;
  for (int r = 0; r < ranks; ++r) {
    constexpr int dealt_to = 3;
    switch (layout) {
      case Layout::one_host:
        hosts.push_back(0);
        break;
      case Layout::blocks:
        hosts.push_back(10 - r / 4);
        break;
      case Layout::dealt:
        hosts.push_back(r % dealt_to);
        break;
      case Layout::folded:
        hosts.push_back(r / dealt_to % 2 == 0 ? r % dealt_to : dealt_to - 1 - r % dealt_to);
        break;
      case Layout::growing:
        hosts.push_back(host);
        if (--left == 0) left = ++host + 1;
        break;
      case Layout::lone_last:
        hosts.push_back(r == ranks - 1 ? 1 : 0);
        break;
      case Layout::scattered:
        hosts.push_back(static_cast<int32_t>(random() % 5));
        break;
    }
  }
  return hosts;
}

std::unique_ptr<const core::Hosts> hosts_seen_by(int32_t rank, const std::vector<int32_t>& hosts) {
  return core::find_hosts(rank, static_cast<int32_t>(hosts.size()),
                          [&hosts](int32_t r) { return hosts[static_cast<size_t>(r)]; });
}

enum class Sends { complete_at_once, wait_for_receives };

// Which algorithms are taken, where they can be: those of the default rows; what those leave out; the rest.
enum class Rows { of_default, others, rest };

std::vector<coll::Row> rows_of(Rows rows) {
  using coll::Algorithm;
  using coll::Collective;
  if (rows == Rows::of_default) return {};
  if (rows == Rows::others) {
    return {{Collective::barrier, Algorithm::dissemination},
            {Collective::bcast, Algorithm::split},
            {Collective::gather, Algorithm::direct},
            {Collective::scatter, Algorithm::direct},
            {Collective::allgather, Algorithm::ring},
            {Collective::alltoall, Algorithm::bruck},
            {Collective::reduce, Algorithm::tree},
            {Collective::allreduce, Algorithm::split},
            {Collective::reduce_scatter, Algorithm::pairwise}};
  }
  return {{Collective::barrier, Algorithm::flat},      {Collective::bcast, Algorithm::tree},
          {Collective::gather, Algorithm::leaders},    {Collective::scatter, Algorithm::leaders},
          {Collective::allgather, Algorithm::leaders}, {Collective::allgather, Algorithm::bruck},
          {Collective::allreduce, Algorithm::flat}};
}

class Simulation {
 public:
  explicit Simulation(const std::vector<int32_t>& hosts, const coll::Reducer& reducer = joining, bool leaders = true,
                      Rows rows = Rows::of_default)
      : host_of_rank_(hosts), reducer_(reducer) {
    const auto ranks = static_cast<int32_t>(hosts.size());
    for (int32_t r = 0; r < ranks; ++r) {
      comms_.push_back(std::make_unique<Comm>());
      hosts_.push_back(hosts_seen_by(r, hosts));
      comms_.back()->rank = r;
      comms_.back()->size = ranks;
      if (leaders) comms_.back()->hosts = hosts_.back().get();
    }
    if (rows == Rows::of_default) return;  // the communicators find out by themselves
    choices_ = coll::compile({.ranks = ranks, .leaders = leaders && hosts_[0] != nullptr}, rows_of(rows));
    for (const auto& comm : comms_) comm->choices = &choices_;
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
    between_hosts_ = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t r = 0; r < comms_.size(); ++r) moved |= advance(r, sends);
    }
    for (size_t r = 0; r < comms_.size(); ++r) {
      if (states_[r].next != schedules_[r]->steps().size() || states_[r].open != 0) return false;
    }
    return true;
  }

  // Messages that went from one host to another.
  int between_hosts() const { return between_hosts_; }

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
    Block block;  // read when it is sent, or when it is received: as long as the sender waits for that
    std::vector<char> data;

    void read() {
      data.resize(static_cast<size_t>(block.bytes()));
      datatype::pack(*block.type, block.count, block.data, 0, data.data(), block.bytes());
    }
  };

  bool advance(size_t rank, Sends sends) {
    State& state = states_[rank];
    bool moved = false;
    for (auto& [from, posted] : state.receives) {
      auto& queue = messages_[{from, rank}];
      while (!posted.empty() && !queue.empty()) {
        const Block to = posted.front();
        if (sends == Sends::wait_for_receives) queue.front().read();
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
        Message message{.block = step.from, .data = {}};
        if (sends == Sends::complete_at_once) message.read();
        messages_[{rank, other}].push_back(std::move(message));
        if (host_of_rank_[rank] != host_of_rank_[other]) ++between_hosts_;
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
        reducer_.apply(step.from.data, step.to.data, step.from.count);
        return;
      case Step::Kind::fence:
        return;
    }
  }

  std::vector<int32_t> host_of_rank_;
  const coll::Reducer& reducer_;
  int between_hosts_ = 0;
  std::vector<std::unique_ptr<const core::Hosts>> hosts_;
  coll::Choices choices_;
  std::vector<std::unique_ptr<Comm>> comms_;
  std::vector<std::unique_ptr<Schedule>> schedules_;
  std::vector<State> states_;
  std::map<std::pair<size_t, size_t>, std::deque<Message>> messages_;
};

Block words(Values& values) {
  return {values.data(), static_cast<int64_t>(values.size()), &word};
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
        // Of `all` the others know no more than the size.
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

// How often hosts are crossed by eight ranks on two of them: docs/collectives.md has these numbers.
class Crossings : public testing::Test {
 protected:
  struct Counts {
    int barrier, bcast, reduce, gather, scatter, allreduce, allgather, ring;
    bool operator==(const Counts&) const = default;
  };

  static Counts count(const std::vector<int32_t>& hosts, bool leaders, int root) {
    std::vector<Values> in(8, Values(8, 1)), out = in, large(8, Values(8 * 300));
    auto a = [&](int r) { return in[static_cast<size_t>(r)].data(); };
    auto b = [&](int r) { return out[static_cast<size_t>(r)].data(); };
    auto of = [&](const std::function<void(Schedule&, int)>& plan) {
      Simulation simulation(hosts, adding, leaders);
      EXPECT_TRUE(simulation.run(Sends::complete_at_once, plan));
      return simulation.between_hosts();
    };
    using coll::plan::allgather;
    return {.barrier = of([](Schedule& s, int) { coll::plan::barrier(s); }),
            .bcast = of([&](Schedule& s, int r) {
              coll::plan::bcast(s, Block{a(r), 8, &word}, root);
            }),
            .reduce = of([&](Schedule& s, int r) { coll::plan::reduce(s, a(r), b(r), 8, adding, root); }),
            .gather = of([&](Schedule& s, int r) {
              coll::plan::gather(s, {a(r), 1, &word}, Blocks(b(r), 1, word), root);
            }),
            .scatter = of([&](Schedule& s, int r) {
              coll::plan::scatter(s, Blocks(a(r), 1, word), {b(r), 1, &word}, root);
            }),
            .allreduce = of([&](Schedule& s, int r) { coll::plan::allreduce(s, a(r), b(r), 8, adding); }),
            .allgather = of([&](Schedule& s, int r) {
              allgather(s, Block{a(r), 1, &word}, Blocks(b(r), 1, word));
            }),
            .ring = of([&](Schedule& s, int r) {
              allgather(s, Block(), Blocks(large[static_cast<size_t>(r)].data(), 300, word));
            })};
  }

  const std::vector<int32_t> together_{0, 0, 0, 0, 1, 1, 1, 1};
  const std::vector<int32_t> dealt_{0, 1, 0, 1, 0, 1, 0, 1};
};

TEST_F(Crossings, ByLeadersAreAsFewAsCanBe) {
  const Counts few{
      .barrier = 2, .bcast = 1, .reduce = 1, .gather = 1, .scatter = 1, .allreduce = 2, .allgather = 2, .ring = 14};
  for (int root = 0; root < 8; ++root) {
    EXPECT_EQ(count(together_, true, root), few) << root;
    EXPECT_EQ(count(dealt_, true, root), few) << root;
    EXPECT_EQ(count({0, 1, 1, 0, 0, 1, 1, 0}, true, root), few) << root;
    EXPECT_EQ(count({1, 1, 1, 1, 1, 1, 1, 0}, true, root), few) << root;
  }
}

TEST_F(Crossings, WithoutLeaders) {
  EXPECT_EQ(count(together_, false, 0), (Counts{.barrier = 8,
                                                .bcast = 1,
                                                .reduce = 1,
                                                .gather = 4,
                                                .scatter = 4,
                                                .allreduce = 8,
                                                .allgather = 14,
                                                .ring = 14}));
  EXPECT_EQ(count(dealt_, false, 0), (Counts{.barrier = 8,
                                             .bcast = 4,
                                             .reduce = 4,
                                             .gather = 4,
                                             .scatter = 4,
                                             .allreduce = 8,
                                             .allgather = 8,
                                             .ring = 56}));
}

TEST(Hosts, SaysWhereRanksAre) {
  const std::vector<int32_t> hosts{7, 7, 3, 7, 3, 9};
  for (int32_t r = 0; r < 6; ++r) {
    const auto found = hosts_seen_by(r, hosts);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->count(), 3);
    EXPECT_FALSE(found->consecutive());
    EXPECT_EQ(found->order, (std::vector<int32_t>{0, 1, 3, 2, 4, 5}));
    EXPECT_EQ(std::vector<int32_t>(found->first_ranks(), found->first_ranks() + 3), (std::vector<int32_t>{0, 2, 5}));
    EXPECT_EQ(found->rank_at(found->start(found->host) + found->place), r);
    EXPECT_EQ(found->host_of(r), found->host);
  }
}

TEST(Hosts, TakesNoMemoryForEachRankWhereHostsFollowOneAnother) {
  const auto found = hosts_seen_by(4, std::vector<int32_t>{7, 7, 3, 3, 3, 9});
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->consecutive());
  EXPECT_TRUE(found->host_by_rank.empty());
  EXPECT_EQ(found->starts, (std::vector<int32_t>{0, 2, 5, 6}));
  EXPECT_EQ(found->host, 1);
  EXPECT_EQ(found->place, 2);
  EXPECT_EQ(found->place_of(1), 1);
  EXPECT_EQ(found->host_of(5), 2);
}

TEST(Hosts, AreNothingWhereTheyMakeNoDifference) {
  EXPECT_EQ(hosts_seen_by(0, std::vector<int32_t>{5, 5, 5}), nullptr);
  EXPECT_EQ(hosts_seen_by(0, std::vector<int32_t>{2, 1, 0}), nullptr);
  EXPECT_EQ(hosts_seen_by(0, std::vector<int32_t>{5}), nullptr);
}

}  // namespace
