// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Matching against a model that takes the standard's words literally (MPI-5.0, 3.5): lists in order, searched from the
// front.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "core/match/match.hpp"
#include "schedule.hpp"

namespace weft::core {
namespace {

using test::Random;

struct Model {
  std::vector<Request*> posted;         // in order of posting
  std::vector<Unexpected*> unexpected;  // in order of arrival

  Request* take_receive(const Envelope& message) {
    auto found = std::find_if(posted.begin(), posted.end(), [&](Request* r) { return matches(r->match, message); });
    if (found == posted.end()) return nullptr;
    Request* r = *found;
    posted.erase(found);
    return r;
  }
  Unexpected* find(const Envelope& wanted) const {
    auto found = std::find_if(unexpected.begin(), unexpected.end(),
                              [&](const Unexpected* u) { return matches(wanted, u->envelope); });
    return found == unexpected.end() ? nullptr : *found;
  }
};

// The tables of a process with one lane. `across`: receives with MPI_ANY_TAG lie in the list of the process, as with
// several lanes, and their messages are settled, here at once.
struct Tables : Matcher {
  explicit Tables(bool across = false) : across_(across) {
    open();
    share(across);
  }
  ~Tables() { close(); }
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  AnyTags any_tags;

  Request* take_receive(const Envelope& message) {
    Request* r = Matcher::take_receive(message, any_tags);
    if (r != nullptr) return r;
    Unexpected held{};
    held.envelope = message;
    Matcher::add(&held);
    if (any_pending()) r = settle(&held, any_tags);
    Matcher::remove(&held);
    return r;
  }
  void post(Request& r) {
    if (!is_across(r)) return Matcher::post_either(r);
    const uint64_t next = order() + 1;
    advance(next);
    any_tags.post(r, next);
  }
  bool withdraw(Request& r) { return is_across(r) ? any_tags.remove(r) : Matcher::withdraw(r); }

 private:
  bool is_across(const Request& r) const { return across_ && r.match.tag == any_tag; }

  const bool across_;
};

// The tags, sources and wildcards that a run draws from; few of them collide often, many fill the bins.
struct Mix {
  uint32_t contexts;
  int sources;
  int tags;
  int tag_stride;
  int wild_percent;
  bool across = false;
};

class Play {
 public:
  Play(uint64_t seed, const Mix& mix) : random_(seed), mix_(mix), matcher_(mix.across) {}

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      switch (random_.below(8)) {
        case 0:
        case 1:
        case 2:
          post();
          break;
        case 3:
        case 4:
        case 5:
          arrive();
          break;
        case 6:
          withdraw();
          break;
        default:
          look();
      }
      if (i % 64 == 0) check_order();
    }
    // All that is left comes out as in the model.
    while (!model_.unexpected.empty() && !::testing::Test::HasFailure()) receive(model_.unexpected.front()->envelope);
    EXPECT_FALSE(matcher_.anything_unexpected());
    while (!model_.posted.empty() && !::testing::Test::HasFailure()) withdraw();
    EXPECT_EQ(matcher_.take_receive(message()), nullptr);
  }

  int matched() const { return matched_; }

 private:
  int tag() { return static_cast<int>(random_.below(static_cast<uint64_t>(mix_.tags))) * mix_.tag_stride; }
  int source() { return static_cast<int>(random_.below(static_cast<uint64_t>(mix_.sources))); }
  bool wild() { return static_cast<int>(random_.below(100)) < mix_.wild_percent; }
  uint32_t context() { return 2 * static_cast<uint32_t>(random_.below(mix_.contexts)); }
  Envelope message() { return {context(), source(), tag(), 0}; }
  Envelope wanted() { return {context(), wild() ? any_source : source(), wild() ? any_tag : tag(), 0}; }

  // Does what start_receive() does: it takes a message that came before, or joins the list.
  void receive(const Envelope& e) {
    Unexpected* expected = model_.find(e);
    Unexpected* found = matcher_.find(e);
    ASSERT_EQ(found, expected);
    if (found != nullptr) {
      model_.unexpected.erase(std::find(model_.unexpected.begin(), model_.unexpected.end(), found));
      matcher_.remove(found);
      ++matched_;
      return;
    }
    Request& r = requests_.emplace_back();
    r.match = e;
    model_.posted.push_back(&r);
    matcher_.post(r);
  }
  void post() { receive(wanted()); }

  void arrive() {
    const Envelope e = message();
    Request* expected = model_.take_receive(e);
    ASSERT_EQ(matcher_.take_receive(e), expected);
    if (expected != nullptr) {
      ++matched_;
      EXPECT_FALSE(matcher_.withdraw(*expected)) << "it was matched already";
      return;
    }
    Unexpected& u = messages_.emplace_back();
    u.envelope = e;
    model_.unexpected.push_back(&u);
    matcher_.add(&u);
  }

  void withdraw() {
    if (model_.posted.empty()) return;
    const auto at = static_cast<ptrdiff_t>(random_.below(model_.posted.size()));
    Request* r = model_.posted[static_cast<size_t>(at)];
    model_.posted.erase(model_.posted.begin() + at);
    ASSERT_TRUE(matcher_.withdraw(*r));
    ASSERT_FALSE(matcher_.withdraw(*r));
  }

  void look() {
    const Envelope e = wanted();
    ASSERT_EQ(matcher_.find(e), model_.find(e));
    // A message that was probed for may be taken out from the middle.
    if (!model_.unexpected.empty() && random_.below(4) == 0) {
      const auto at = static_cast<ptrdiff_t>(random_.below(model_.unexpected.size()));
      matcher_.remove(model_.unexpected[static_cast<size_t>(at)]);
      model_.unexpected.erase(model_.unexpected.begin() + at);
    }
  }

  void check_order() {
    std::vector<Unexpected*> all;
    for (Unexpected* u = matcher_.first_unexpected(); u != nullptr; u = u->next) all.push_back(u);
    ASSERT_EQ(all, model_.unexpected);
    ASSERT_EQ(matcher_.anything_unexpected(), !all.empty());
  }

  Random random_;
  Mix mix_;
  Model model_;
  Tables matcher_;
  std::list<Request> requests_;
  std::list<Unexpected> messages_;
  int matched_ = 0;
};

class Matching : public ::testing::TestWithParam<Mix> {};

TEST_P(Matching, DoesAsTheStandardSays) {
  int matched = 0;
  for (uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Play play(seed, GetParam());
    play.run(600);
    matched += play.matched();
  }
  EXPECT_GT(matched, 10000);
}

INSTANTIATE_TEST_SUITE_P(Mixes, Matching,
                         ::testing::Values(Mix{1, 1, 1, 1, 0}, Mix{1, 2, 2, 1, 0}, Mix{1, 2, 3, 1, 30},
                                           Mix{2, 4, 4, 1, 10}, Mix{2, 3, 3, 1, 100}, Mix{1, 1, 8, 1 << 24, 5},
                                           Mix{1, 2, 3, 1, 30, true}, Mix{2, 3, 3, 1, 100, true}));

// Receives in the reverse order of their messages, and messages in the reverse order of their receives: each search
// would pass all others of its bin.
TEST(Matcher, HasMoreBinsTheMoreTheyHold) {
  constexpr int count = 40000;
  std::vector<Request> requests(count);
  std::vector<Unexpected> messages(count);
  Tables m;
  const uint32_t before = m.bins();
  for (int i = 0; i < count; ++i) {
    requests[static_cast<size_t>(i)].match = {2, i % 3, i / 3, 0};
    m.post(requests[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(m.bins(), before) << "without a search";
  for (int i = count; i-- > 0;) {
    ASSERT_EQ(m.take_receive(requests[static_cast<size_t>(i)].match), &requests[static_cast<size_t>(i)]);
  }
  EXPECT_GE(m.bins(), count / 2U);
  Tables n;
  for (int i = 0; i < count; ++i) {
    messages[static_cast<size_t>(i)].envelope = {2, i % 3, i / 3, 0};
    n.add(&messages[static_cast<size_t>(i)]);
  }
  for (int i = count; i-- > 0;) {
    Unexpected* const found = n.find(messages[static_cast<size_t>(i)].envelope);
    ASSERT_EQ(found, &messages[static_cast<size_t>(i)]);
    n.remove(found);
  }
  EXPECT_GE(n.bins(), count / 2U);
}

// Two sources' messages of one tag may share a bin: those of the one that came first are not passed for each of the
// other's.
TEST(Matcher, FewKeysOfManyMessagesDoNotShareABin) {
  constexpr int each = 20000;
  constexpr int keys = 24;
  std::vector<Unexpected> messages(each * keys);
  Tables m;
  size_t next = 0;
  for (int key = 0; key < keys; ++key) {
    for (int i = 0; i < each; ++i) {
      Unexpected& u = messages[next++];
      u.envelope = {2, key % 4, key / 4, 0};
      m.add(&u);
    }
  }
  uint64_t passed = 0;
  for (int i = 0; i < each; ++i) {
    for (int key = keys; key-- > 0;) {
      Unexpected* const found = m.find({2, key % 4, key / 4, 0});
      ASSERT_EQ(found, &messages[static_cast<size_t>(key * each + i)]) << "in order";
      for (const Unexpected* u = found->previous_in_bin; u != nullptr; u = u->previous_in_bin) ++passed;
      m.remove(found);
    }
  }
  EXPECT_LE(passed, 8U * messages.size());
}

TEST(Matcher, OrdersByPostingAcrossWildcards) {
  Tables m;
  Request any;
  Request exact;
  Request any_tag_only;
  any.match = {0, any_source, any_tag, 0};
  exact.match = {0, 3, 7, 0};
  any_tag_only.match = {0, 3, any_tag, 0};
  m.post(exact);
  m.post(any_tag_only);
  m.post(any);
  const Envelope message{0, 3, 7, 0};
  EXPECT_EQ(m.take_receive(message), &exact);
  EXPECT_EQ(m.take_receive(message), &any_tag_only);
  EXPECT_EQ(m.take_receive(message), &any);
  EXPECT_EQ(m.take_receive(message), nullptr);
}

// If threads are inside MPI_Recv at the same time, the one that looks gets the next message, wherever its receive lies
// in the list.
TEST(Matcher, BringsAReceiveForwardAmongThoseOfOtherThreads) {
  Tables m;
  Request first;
  Request second;
  Request other_tag;
  Request third;
  first.match = second.match = third.match = {0, 3, 7, 0};
  other_tag.match = {0, 3, 8, 0};
  for (Request* r : {&first, &second, &other_tag, &third}) {
    r->flags.awaited = r != &other_tag;
    m.post(*r);
  }
  const Envelope message{0, 3, 7, 0};
  m.bring_forward(third);
  EXPECT_EQ(m.take_receive(message), &third);
  m.bring_forward(third);  // it was matched: nothing changes
  m.bring_forward(first);  // it is first already
  EXPECT_EQ(m.take_receive(message), &first);
  EXPECT_EQ(m.take_receive(message), &second);
  EXPECT_EQ(m.take_receive(message), nullptr);
  EXPECT_EQ(m.take_receive(other_tag.match), &other_tag);
}

// The receives of one thread stay in order: behind one of MPI_Irecv nothing is brought forward, nor past one with
// wildcards that was posted in between.
TEST(Matcher, KeepsTheOrderOfReceivesThatMayBeOfOneThread) {
  const Envelope message{0, 3, 7, 0};
  {
    Tables m;
    Request posted;
    Request awaited;
    posted.match = awaited.match = message;
    awaited.flags.awaited = true;
    m.post(posted);
    m.post(awaited);
    m.bring_forward(awaited);
    EXPECT_EQ(m.take_receive(message), &posted);
    EXPECT_EQ(m.take_receive(message), &awaited);
  }
  Tables m;
  Request before;
  Request wild;
  Request behind;
  before.match = behind.match = message;
  wild.match = {0, any_source, 7, 0};
  before.flags.awaited = behind.flags.awaited = true;
  for (Request* r : {&before, &wild, &behind}) m.post(*r);
  m.bring_forward(behind);
  EXPECT_EQ(m.take_receive(message), &before);
  EXPECT_EQ(m.take_receive(message), &wild);
  EXPECT_EQ(m.take_receive(message), &behind);
}

// A pending message whose sender took it back, or is lost, holds up nothing.
TEST(Matcher, APendingMessageCanBeRemoved) {
  AnyTags any_tags;
  Tables m(true);
  Request any;
  any.match = {2, 0, any_tag, 0};
  m.advance(1);
  any_tags.post(any, 1);
  Unexpected recalled{};
  recalled.envelope = {2, 0, 5, 0};
  ASSERT_EQ(m.Matcher::take_receive(recalled.envelope, any_tags), nullptr);
  m.add(&recalled);
  EXPECT_TRUE(m.unsettled());
  m.remove(&recalled);
  EXPECT_FALSE(m.any_pending());
  EXPECT_EQ(m.first_pending(), nullptr);
}

TEST(Matcher, KeepsContextsApart) {
  Tables m;
  Request r;
  r.match = {4, any_source, any_tag, 0};
  m.post(r);
  EXPECT_EQ(m.take_receive({6, 0, 0, 0}), nullptr);
  EXPECT_EQ(m.take_receive({4, 0, 0, 0}), &r);
}

}  // namespace
}  // namespace weft::core
