// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The numbers of new communicators, with creations of many teams under way at the same time in every order.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "core/dynamic/context.hpp"
#include "core/object/tree.hpp"
#include "schedule.hpp"

namespace weft::core {
namespace {

// A creation under way: its members come one after the other, at times that the test chooses, and leave likewise.
struct Creation {
  std::vector<size_t> members;
  std::vector<uint32_t> offers;
  size_t settled = 0;
};

// A communicator of one rank, or a notice on its way to one: this rank is to release this number.
struct Holding {
  size_t rank;
  uint32_t number;
};

class Job {
 public:
  explicit Job(int32_t size) : given_(static_cast<size_t>(size)) {
    for (int32_t rank = 0; rank < size; ++rank) numbers_.emplace_back(rank, size);
  }

  size_t size() const { return numbers_.size(); }

  // One member makes its next step; true when the creation is complete.
  bool advance(Creation& creation) {
    const size_t members = creation.members.size();
    if (creation.offers.size() < members) {
      const size_t rank = creation.members[creation.offers.size()];
      creation.offers.push_back(numbers_[rank].offer(static_cast<int32_t>(members)));
      return false;
    }
    const auto smallest = std::min_element(creation.offers.begin(), creation.offers.end());
    const uint32_t agreed = *smallest;
    const auto owner = static_cast<int32_t>(smallest - creation.offers.begin());
    const auto place = tree_place(static_cast<int32_t>(creation.settled), static_cast<int32_t>(members), owner);
    const size_t rank = creation.members[creation.settled];
    numbers_[rank].settle(creation.offers[creation.settled], agreed);
    numbers_[rank].hold(agreed,
                        place.above < 0 ? ContextNumbers::nobody
                                        : static_cast<int32_t>(creation.members[static_cast<size_t>(place.above)]),
                        place.below);
    EXPECT_GE(agreed, ContextNumbers::first_shared);
    EXPECT_LT(agreed, ContextNumbers::end);
    EXPECT_TRUE(given_[rank].insert(agreed).second) << "number " << agreed << " a second time on rank " << rank;
    held_.push_back({rank, agreed});
    return ++creation.settled == members;
  }

  // Some rank frees some communicator, or a notice of one that was freed arrives.
  void release_one(test::Random& random) {
    const size_t from = random.below(held_.size() + notices_.size());
    if (from < held_.size()) {
      const Holding chosen = take(held_, from);
      given_[chosen.rank].erase(chosen.number);
      release(chosen);
    } else {
      release(take(notices_, from - held_.size()));
    }
  }

  bool holds_any() const { return !held_.empty() || !notices_.empty(); }
  uint32_t largest(size_t rank) const { return *given_[rank].rbegin(); }
  ContextNumbers& of(size_t rank) { return numbers_[rank]; }

 private:
  static Holding take(std::vector<Holding>& from, size_t place) {
    std::swap(from[place], from.back());
    const Holding taken = from.back();
    from.pop_back();
    return taken;
  }

  void release(const Holding& holding) {
    const int32_t up = numbers_[holding.rank].release(holding.number);
    if (up != ContextNumbers::nobody) notices_.push_back({static_cast<size_t>(up), holding.number});
  }

  std::deque<ContextNumbers> numbers_;
  std::vector<std::set<uint32_t>> given_;  // to communicators the rank is in
  std::vector<Holding> held_;
  std::vector<Holding> notices_;
};

std::vector<size_t> some_ranks(test::Random& random, size_t size) {
  std::vector<size_t> ranks;
  for (size_t r = 0; r < size; ++r) {
    if (random.below(2) == 0) ranks.push_back(r);
  }
  if (ranks.empty()) ranks.push_back(random.below(size));
  for (size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[random.below(i)]);  // who comes when
  return ranks;
}

TEST(ContextNumbers, NoRankGetsOneTwiceHoweverCreationsOverlap) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    test::Random random(seed);
    Job job(static_cast<int32_t>(1 + random.below(9)));
    std::vector<Creation> open;
    const size_t at_once = 1 + random.below(8);
    for (int made = 0; made < 200;) {
      if (open.size() < at_once) open.push_back({some_ranks(random, job.size()), {}, 0});
      const size_t chosen = random.below(open.size());
      if (!job.advance(open[chosen])) continue;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
      ++made;
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(ContextNumbers, ReusedOnlyWhenAllAreThroughInWhateverOrderTheyAre) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    test::Random random(seed);
    Job job(static_cast<int32_t>(1 + random.below(9)));
    std::vector<Creation> open;
    const size_t at_once = 1 + random.below(8);
    for (int made = 0; made < 400;) {
      if (job.holds_any() && random.below(3) == 0) job.release_one(random);
      if (open.size() < at_once) open.push_back({some_ranks(random, job.size()), {}, 0});
      const size_t chosen = random.below(open.size());
      if (!job.advance(open[chosen])) continue;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(chosen));
      ++made;
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(ContextNumbers, ComeBackWhenFreed) {
  for (int32_t size = 1; size <= 9; ++size) {
    test::Random random(static_cast<uint64_t>(size));
    Job job(size);
    for (int round = 0; round < 100; ++round) {
      Creation creation{{}, {}, 0};
      for (size_t r = job.size(); r-- > 0;) creation.members.push_back(r);
      while (!job.advance(creation)) {
      }
      // The common part of all is as small as it was at first.
      EXPECT_LT(job.largest(0), size == 1 ? ContextNumbers::first_alone + 1
                                          : ContextNumbers::first_shared + 2 * static_cast<uint32_t>(size));
      while (job.holds_any()) job.release_one(random);
    }
  }
}

TEST(ContextNumbers, WithoutThreadsATeamUsesEachNumber) {
  Job job(3);
  for (uint32_t i = 0; i < 30; ++i) {
    Creation creation{{0, 1, 2}, {}, 0};
    while (!job.advance(creation)) {
    }
    EXPECT_EQ(job.largest(0), ContextNumbers::first_shared + i);
  }
}

TEST(ContextNumbers, AProcessAloneTakesNobodysNumbers) {
  ContextNumbers numbers(1, 4);
  const uint32_t alone = numbers.offer(1);
  numbers.settle(alone, alone);
  EXPECT_EQ(alone, ContextNumbers::first_alone);
  EXPECT_EQ(numbers.offer(2), ContextNumbers::first_shared + 1);
}

TEST(ContextNumbers, OfSeveralJobsAreApart) {
  ContextNumbers numbers(0, 2);
  constexpr uint32_t first = ContextNumbers::first_common + 7;
  const ContextNumbers::Common range{first, 3, first + 7};
  const uint32_t own = numbers.offer(2);
  const uint32_t common = numbers.offer_common(range);
  EXPECT_FALSE(ContextNumbers::is_common(own));
  EXPECT_TRUE(ContextNumbers::is_common(common));
  EXPECT_EQ(common, first);
  EXPECT_EQ(numbers.offer_common(range), first + 3);
  EXPECT_EQ(numbers.offer_common(range), first + 6);
  EXPECT_EQ(numbers.offer_common(range), ContextNumbers::none);
  // Each comes back to those like it.
  numbers.settle(common, 5);
  numbers.settle(own, 5);
  EXPECT_EQ(numbers.offer_common(range), common);
  EXPECT_EQ(numbers.offer(2), own);
}

TEST(ContextNumbers, EndWithNone) {
  ContextNumbers numbers(3, 1 << 25);
  const uint32_t first = numbers.offer(2);
  const uint32_t second = numbers.offer(2);
  EXPECT_EQ(second, first + (1U << 25));
  EXPECT_EQ(numbers.offer(2), ContextNumbers::none);
  numbers.settle(ContextNumbers::none, 5);  // somebody else had one
  EXPECT_EQ(numbers.offer(2), ContextNumbers::none);
  numbers.settle(second, 5);
  EXPECT_EQ(numbers.offer(2), second);
}

}  // namespace
}  // namespace weft::core
