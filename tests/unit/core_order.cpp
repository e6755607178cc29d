// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The order of messages over one lane and several, between worlds of one process: wildcards, cancelled sends, sources
// that keep a message back, sends that queue.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "core/lane/lane.hpp"
#include "core/message/handler.hpp"
#include "core/message/send_now.hpp"
#include "core/peer/peer.hpp"
#include "core/protocol/pending.hpp"
#include "core/protocol/wire.hpp"
#include "core_messages.hpp"

namespace weft::core {
namespace {

using test::Plan;
using test::Ranks;

// Ranks 1 and 2 send numbered messages of several sizes; rank 0 takes them by wildcards.
void expect_order(uint32_t lanes, bool any_tags, const test::Wire& wire = {}) {
  constexpr int messages = 12;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Ranks ranks({.ranks = 3, .seed = seed, .lanes = lanes, .wire = wire});
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      const auto tag_of = [&](int i) { return any_tags ? i % 5 : 7; };
      const auto bytes_of = [](int i) { return static_cast<size_t>(i % 3 == 0 ? 8 : i % 3 == 1 ? 3000 : 40000); };
      if (rank != 0) {
        std::vector<Bytes> data;
        std::vector<Request*> requests;
        for (int i = 0; i < messages; ++i) {
          data.push_back(pattern(bytes_of(i), 10 * rank + i));
          requests.push_back(&begin_send(comm, data.back(), 0, tag_of(i)));
          if (seed % 3 == 0) pause(2);
        }
        for (Request* r : requests) finish(*r);
        return;
      }
      int next[3] = {};
      if (seed % 2 == 0) pause(30);
      for (int i = 0; i < 2 * messages; ++i) {
        Bytes room(40000);
        Request& r = begin_receive(comm, room, any_source, any_tags ? any_tag : 7);
        wait(r);
        ASSERT_TRUE(r.source == 1 || r.source == 2);
        const int number = next[r.source]++;
        EXPECT_EQ(r.tag, tag_of(number)) << "overtaken, seed " << seed;
        EXPECT_EQ(r.received, static_cast<int64_t>(bytes_of(number)));
        room.resize(bytes_of(number));
        EXPECT_EQ(room, pattern(bytes_of(number), 10 * r.source + number)) << "seed " << seed;
        free_request(&r);
      }
    });
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Order, WildcardsGetTheMessagesOfASourceInOrder) {
  expect_order(1, false);
  expect_order(1, true);
}

TEST(Order, WildcardsGetThemInOrderAcrossLanes) {
  expect_order(4, false);
  expect_order(4, true);
}

constexpr test::Wire between_hosts{.drains = false};

TEST(Order, WildcardsGetThemInOrderAcrossLanesThatCannotBeDrained) {
  expect_order(4, false, between_hosts);
  expect_order(4, true, between_hosts);
}

// Messages of one sender with several tags, and receives with and without MPI_ANY_TAG, posted and found by a probe:
// each gets the first message that matches and that no receive before it has.
TEST(Order, ReceivesOfAllKindsGetTheFirstOfAllLanes) {
  constexpr int messages = 40;
  for (uint64_t seed = 1; seed <= 3 * seeds; ++seed) {
    test::Random random(seed);
    std::vector<int32_t> tags(messages);
    for (int32_t& tag : tags) tag = static_cast<int32_t>(random.below(6));
    std::vector<int> left(messages);
    for (int i = 0; i < messages; ++i) left[static_cast<size_t>(i)] = i;
    struct Wish {
      int32_t source, tag;
      int gets;
      bool probed;
    };
    std::vector<Wish> wishes;
    while (!left.empty()) {
      const bool any = random.below(2) == 0;
      auto at = left.begin() + (any ? 0 : static_cast<ptrdiff_t>(random.below(left.size())));
      const int32_t tag = tags[static_cast<size_t>(*at)];
      at =
          any ? at : std::find_if(left.begin(), left.end(), [&](int i) { return tags[static_cast<size_t>(i)] == tag; });
      wishes.push_back({random.below(2) == 0 ? any_source : 0, any ? any_tag : tag, *at, random.below(4) == 0});
      left.erase(at);
    }
    Ranks ranks({.seed = seed, .lanes = 4, .wire = {.room = 4, .full_one_in = 5, .drains = seed % 4 == 0}});
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      if (rank == 0) {
        std::vector<Bytes> data;
        std::vector<Request*> requests;
        for (int i = 0; i < messages; ++i) {
          data.push_back(pattern(i % 5 == 0 ? 5000 : 8, i));
          requests.push_back(&begin_send(comm, data.back(), 1, tags[static_cast<size_t>(i)]));
        }
        for (Request* r : requests) finish(*r);
        return;
      }
      pause(static_cast<int>(seed % 3) * 20);
      std::vector<Bytes> rooms(messages, Bytes(5000));
      std::vector<Request*> posted;
      const auto take_all = [&] {
        for (Request* r : posted) wait(*r);
      };
      for (size_t i = 0; i < wishes.size(); ++i) {
        if (!wishes[i].probed) {
          posted.push_back(&begin_receive(comm, rooms[i], wishes[i].source, wishes[i].tag));
          continue;
        }
        take_all();  // a probe could find what is a posted receive's otherwise
        Unexpected* message = nullptr;
        while (message == nullptr) {
          message = take_message(comm.context, wishes[i].source, wishes[i].tag, nullptr);
          if (message == nullptr) test::Switchboard::away(test::Schedule::yield);
        }
        Request& r = *posted.emplace_back(new_request(comm, Role::receive));
        set_buffer(r, rooms[i].data(), 5000, byte_type());
        receive_matched(r, message);
      }
      take_all();
      for (size_t i = 0; i < wishes.size(); ++i) {
        const int expected = wishes[i].gets;
        const size_t bytes = expected % 5 == 0 ? 5000 : 8;
        EXPECT_EQ(posted[i]->tag, tags[static_cast<size_t>(expected)]) << "receive " << i << ", seed " << seed;
        EXPECT_EQ(posted[i]->received, static_cast<int64_t>(bytes));
        EXPECT_TRUE(std::equal(rooms[i].begin(), rooms[i].begin() + 8, pattern(8, expected).begin()))
            << "receive " << i << " has message " << int{rooms[i][0]} << " instead of " << expected << ", seed "
            << seed;
        free_request(posted[i]);
      }
    });
    if (testing::Test::HasFailure()) return;
  }
}

// One that another thread's send was to precede, which is taken back while its way is full.
TEST(Order, ACancelledSendIsNotWaitedFor) {
  int cancelled = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Ranks ranks({.seed = seed, .lanes = 4, .wire = {.room = 2, .full_one_in = 2, .drains = false}});
    int expected = 0;
    bool sent = false;
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      constexpr int messages = 12;
      if (rank == 0) {
        std::vector<Bytes> data;
        std::vector<Request*> requests;
        for (int i = 0; i < messages; ++i) {
          data.push_back(pattern(8, i));
          requests.push_back(&begin_send(comm, data.back(), 1, i % 5));
          if (i % 3 == 0) cancel(*requests.back());
        }
        for (Request* r : requests) {
          wait(*r);
          (r->flags.cancelled ? cancelled : expected) += 1;
          free_request(r);
        }
        sent = true;
        return;
      }
      while (!sent) pause(1);
      for (int i = 0; i < expected; ++i) {
        Bytes room(8);
        finish(begin_receive(comm, room, 0, any_tag));
      }
    });
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(cancelled, 0);
}

// One of two sources keeps a message back that was sent before another: the other's message is received meanwhile.
TEST(Order, ASourceThatKeepsAMessageBackHoldsNoOtherUp) {
  Ranks ranks({.ranks = 3, .lanes = 4, .wire = between_hosts});
  World* const before = enter(&ranks.world(0));
  Comm& comm = ranks.comm(0);
  const auto arrive = [&](int32_t source, int32_t tag, uint64_t number) {
    const Bytes data = pattern(8, source + tag);
    const uint32_t lane = lanes->map.lane_of(comm.context, tag);
    const LaneGuard guard(lanes->all[lane]);
    on_numbered_arrival({wire::eager, {comm.context, source, tag, lane, number}, data.data(), 8, source});
  };
  Bytes first(8);
  Bytes second(8);
  Bytes third(8);
  arrive(1, 2, 2);
  Request& a = begin_receive(comm, first, any_source, any_tag);
  Request& b = begin_receive(comm, second, 1, 2);
  EXPECT_FALSE(is_done(a) || is_done(b));
  arrive(2, 3, 1);
  EXPECT_TRUE(is_done(a));
  EXPECT_EQ(a.source, 2);
  EXPECT_TRUE(is_done(b)) << "nothing but a receive with MPI_ANY_TAG waits for what is missing";
  Request& c = begin_receive(comm, third, 1, any_tag);
  arrive(1, 3, 3);
  EXPECT_FALSE(is_done(c));
  arrive(1, 1, 1);
  EXPECT_TRUE(is_done(c));
  EXPECT_EQ(third, pattern(8, 2));
  for (Request* r : {&a, &b, &c}) free_request(r);
  enter(before);
}

// A thread posts, cancels and completes receives from any source while another one holds the locks of all other lanes.
TEST(Order, ReceivesFromAnySourceTakeTheLockOfOneLane) {
  Ranks ranks({.ranks = 3, .lanes = 4});
  World* const before = enter(&ranks.world(0));
  Comm& comm = ranks.comm(0);
  constexpr int32_t tag = 7;
  const uint32_t mine = lanes->map.lane_of(comm.context, tag);
  for (uint32_t i = 0; i < 4; ++i) {
    if (i != mine) lanes->all[i].lock.lock();
  }
  std::atomic<bool> through = false;
  std::thread other([&] {
    for (int32_t source = 1; source < 3; ++source) {
      Bytes first(8);
      Bytes second(8);
      Request& taken_back = begin_receive(comm, first, any_source, tag);
      cancel(taken_back);
      Request* const at_once = try_post_wild(*lanes, comm, first.data(), 8, any_source, tag);
      Request& general = begin_receive(comm, second, any_source, tag);
      for (int i = 0; i < 2; ++i) {
        const Bytes data = pattern(8, source + i);
        const LaneGuard guard(lanes->all[mine]);
        on_counted_arrival({wire::eager, {comm.context, source, tag, mine, 0}, data.data(), 8, source});
      }
      EXPECT_TRUE(taken_back.flags.cancelled && at_once != nullptr && is_done(*at_once) && is_done(general));
      EXPECT_EQ(first, pattern(8, source));
      EXPECT_EQ(second, pattern(8, source + 1));
      for (Request* r : {&taken_back, at_once, &general}) free_request(r);
    }
    through = true;
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!through && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(through);
  for (uint32_t i = 0; i < 4; ++i) {
    if (i != mine) lanes->all[i].lock.unlock();
  }
  other.join();
  enter(before);
}

// Where MPI_ANY_TAG reads the lanes of a communicator together, what finds any lane full keeps back all that follows.
TEST(Sends, OfLanesThatAreNotReadTogetherQueueApart) {
  for (const bool by_tag : {false, true}) {
    Ranks ranks({.lanes = 2, .by_tag = by_tag, .wire = {.room = 1}});
    bool seen = false;
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      Comm another;
      another.context = comm.context + 2;
      another.rank = rank;
      another.size = comm.size;
      const uint32_t first = lanes->map.lane_of(comm.context, 1);
      const uint32_t second = lanes->map.lane_of(another.context, 1);
      ASSERT_NE(first, second);
      if (rank == 0) {
        const Bytes data[] = {pattern(8, 0), pattern(8, 1), pattern(8, 2), pattern(8, 3)};
        std::vector<Request*> sends;
        for (int i = 0; i < 3; ++i) sends.push_back(&begin_send(comm, data[i], 1, 1));
        sends.push_back(&begin_send(another, data[3], 1, 1));
        Peer& peer = peers->of(1);
        EXPECT_TRUE(peer.queues_on(first));
        EXPECT_EQ(peer.queues_on(second), by_tag);
        EXPECT_EQ(pending_with(peer).queued, by_tag ? 3 : 2);
        seen = true;
        for (Request* r : sends) finish(*r);
        EXPECT_FALSE(peer.queues_on(first));
        return;
      }
      while (!seen) pause(1);
      for (int i = 3; i >= 0; --i) {
        Bytes room(8);
        finish(begin_receive(i == 3 ? another : comm, room, 0, 1));
        EXPECT_EQ(room, pattern(8, i == 3 ? 3 : 2 - i));
      }
    });
  }
}

TEST(Order, AnUnpostedReceiveGetsNothing) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Ranks ranks({.seed = seed, .lanes = seed % 2 == 0 ? 4U : 1U});
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      if (rank == 0) return finish(begin_send(comm, pattern(8), 1, 1));
      Bytes named(8);
      Bytes wild(8);
      Bytes room(8);
      Request& first = begin_receive(comm, named, 0, 2);
      Request& second = begin_receive(comm, wild, 0, any_tag);
      cancel(first);
      cancel(second);
      EXPECT_TRUE(is_done(first) && first.flags.cancelled);
      wait(second);  // the message may have come for it before
      const bool got = !second.flags.cancelled;
      if (!got) finish(begin_receive(comm, room, 0, any_tag));
      EXPECT_EQ(got ? wild : room, pattern(8));
      free_request(&first);
      free_request(&second);
    });
  }
}

}  // namespace
}  // namespace weft::core
