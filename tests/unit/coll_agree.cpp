// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The members of a new communicator agree on its context, however many they are. The memory that a duplicate of a
// communicator of 700 000 ranks allocates is counted.
#include <cstdlib>
#include <new>
#include <set>

#include "coll/agree/agree.hpp"
#include "coll_simulation.hpp"
#include "core/object/identity.hpp"

namespace {

constinit size_t allocated = 0;

}  // namespace

// The thread sanitizer has these itself; under it no memory is counted, and other builds count it.
#ifndef WEFT_TSAN
void* operator new(size_t bytes) {
  allocated += bytes;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t /*bytes*/) noexcept {
  std::free(memory);
}
#endif

namespace {

using namespace weft;
using namespace weft::test;
using coll::Founders;
using coll::Vote;

TEST(Agreement, AllHaveTheSmallestOfferAndTheBitsThatAllHaveSet) {
  for (Sends sends : {Sends::complete_at_once, Sends::wait_for_receives}) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
      std::vector<Vote> votes, spares(static_cast<size_t>(ranks));
      for (int r = 0; r < ranks; ++r)
        votes.push_back({static_cast<uint64_t>(100 + (r + 3) % ranks), ~(uint64_t{1} << r)});
      Simulation simulation(place(Layout::one_host, ranks), coll::voting);
      EXPECT_TRUE(simulation.run(sends, [&](Schedule& s, int rank) {
        const auto r = static_cast<size_t>(rank);
        coll::plan::agree(s, coll::founders_of(s.comm()), votes[r], spares[r]);
      })) << ranks;
      EXPECT_EQ(simulation.left_over(), 0U);
      for (const Vote& vote : votes) {
        EXPECT_EQ(vote.offer, 100U) << ranks;
        EXPECT_EQ(vote.bits, ~uint64_t{0} << ranks) << ranks;
      }
    }
  }
}

// The side that leads has the lower places; our own side is reached over the hidden communicator.
TEST(Agreement, AnIntercommunicatorsFoundersAreBothSides) {
  for (bool leads : {false, true}) {
    core::Group ours, theirs;
    ours.size = 3;
    ours.rank = 1;
    ours.first = 10;
    theirs.size = 4;
    theirs.first = 20;
    Comm local, comm;
    core::describe_comm(local, 6 | core::local_contexts, &ours);
    core::describe_comm(comm, 6, &ours);
    core::address(comm, theirs);
    comm.remote = &theirs;
    comm.local = &local;
    comm.leads = leads;
    const Founders founders = coll::founders_of(comm);
    EXPECT_EQ(founders.size, 7);
    EXPECT_EQ(founders.place, leads ? 1 : 5);
    EXPECT_EQ(founders.job_rank(founders.place), 11);
    for (int32_t p = 0; p < 7; ++p) {
      const bool here = leads ? p < 3 : p >= 4;
      const int32_t rank = here ? p - founders.our_side() : p - founders.other_side();
      EXPECT_EQ(founders[p].comm, here ? &local : &comm) << p;
      EXPECT_EQ(founders[p].rank, rank) << p;
      EXPECT_EQ(founders.job_rank(p), rank + (here ? 10 : 20)) << p;
    }
  }
}

// A team of a group has no table of its own.
TEST(Agreement, ATeamOfAGroupSharesItsRanks) {
  core::Group line, table;
  line.size = table.size = 4;
  line.rank = table.rank = 2;
  line.first = 30;
  line.stride = -5;
  table.table = {7, 1, 9, 3};
  for (const core::Group* group : {&line, &table}) {
    const size_t before = allocated;
    const coll::Team team = coll::team_of(*group);
    EXPECT_EQ(allocated, before);
    EXPECT_EQ(team.size, 4);
    EXPECT_EQ(team.place, 2);
    for (int32_t p = 0; p < 4; ++p) EXPECT_EQ(team[p], group->job_rank(p));
  }
}

constexpr int32_t many = 700000;
constexpr size_t few_bytes = 24 * 1024;

TEST(Agreement, OfManyRanksTakesTwentyRoundsAndFewBytes) {
  Comm comm;
  comm.size = many;
  comm.rank = many / 3;
  Vote vote{1, 0}, spare{};
  const size_t before = allocated;
  Schedule schedule(comm);
  coll::plan::agree(schedule, coll::founders_of(comm), vote, spare);
  EXPECT_LT(allocated - before, few_bytes);
  std::set<int32_t> partners;
  for (const Step& step : schedule.steps()) {
    if (step.kind == Step::StepKind::send || step.kind == Step::StepKind::receive) partners.insert(step.rank);
  }
  EXPECT_EQ(partners.size(), 40U);
}

// Ranks alternate between hosts, which takes most memory.
TEST(Agreement, ADuplicateOfManyRanksSharesWhatTheyAre) {
  core::identity->job.here = {0};  // several hosts
  core::Group group;
  group.size = many;
  group.hosts = core::find_hosts(0, many, [](int32_t rank) { return rank % (many / 32); });
  group.rank = 0;
  Comm original;
  core::describe_comm(original, 0, &group);
  EXPECT_NE(original.hosts, nullptr);
  core::ContextNumbers numbers(0, many);
  const size_t before = allocated;
  auto* duplicate = new Comm;
  const uint32_t number = numbers.offer(many);
  numbers.settle(number, number);
  numbers.hold(number, core::ContextNumbers::nobody, 20);
  core::describe_comm(*duplicate, 2 * number, &group);
  EXPECT_LT(allocated - before, size_t{1024});
  EXPECT_EQ(duplicate->hosts, original.hosts);
  EXPECT_EQ(duplicate->job_rank(many - 1), many - 1);
  delete duplicate;
  core::identity->job.here.clear();
}

}  // namespace
