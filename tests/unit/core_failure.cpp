// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations with a rank that is lost, between several worlds of one process. Each test runs under many seeds.
#include <gtest/gtest.h>

#include <vector>

#include "core/peer/peer.hpp"
#include "core/protocol/pending.hpp"
#include "core_messages.hpp"

namespace weft::core {
namespace {

using test::Ranks;
using test::Setting;

// Rank 2 is dead from the start. Operations of rank 0 with it end with an error; those with rank 1 go on.
TEST(Failure, OperationsWithALostPeerAreListedAndEndWithAnError) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Ranks ranks({.ranks = 3, .seed = seed, .lanes = seed % 2 == 0 ? 4U : 1U, .wire = {.room = 3}});
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      if (rank == 2) return ranks.die(rank);
      if (rank == 1) {
        pause(40);
        return finish(begin_send(comm, pattern(8, 1), 0, 1));
      }
      const Bytes large = pattern(40000);
      const Bytes small = pattern(8);
      Bytes room[4] = {Bytes(8), Bytes(8), Bytes(8), Bytes(8)};
      std::vector<Request*> lost = {&begin_send(comm, large, 2, 1), &begin_send(comm, small, 2, 1, Mode::synchronous),
                                    &begin_receive(comm, room[0], 2, 1), &begin_receive(comm, room[1], 2, any_tag)};
      for (int i = 0; i < 20; ++i) lost.push_back(&begin_send(comm, large, 2, i));
      Request& other = begin_receive(comm, room[2], 1, 1);
      Peer& peer = peers->of(2);
      const PendingWith pending = pending_with(peer);
      EXPECT_EQ(pending.sends, 22);
      EXPECT_EQ(pending.receives, 2);
      EXPECT_GT(pending.queued, 0);
      EXPECT_EQ(end_pending(peer, other_error), 24) << "seed " << seed;
      for (Request* r : lost) {
        EXPECT_TRUE(is_done(*r));
        EXPECT_EQ(r->error, other_error);
        free_request(r);
      }
      const PendingWith left = pending_with(peer);
      EXPECT_EQ(left.sends + left.receives + left.queued + left.streams_in, 0);
      Request& late = begin_send(comm, small, 2, 1);
      EXPECT_TRUE(is_done(late)) << "nobody waits for a peer that is known to be lost";
      EXPECT_EQ(late.error, other_error);
      free_request(&late);
      wait(other);
      EXPECT_EQ(other.error, no_error);
      free_request(&other);
      EXPECT_EQ(room[2], pattern(8, 1));
    });
    if (testing::Test::HasFatalFailure()) return;
  }
}

// The sender dies while both sides copy, before or after it has helped.
TEST(Failure, AReceiveThatBothSidesCopyEndsWithItsSender) {
  int ended = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Ranks ranks({.seed = seed});
    const Bytes data = pattern(400000);
    bool over = false;
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      if (rank == 0) {
        // The first message shows that its memory can be read: the next is copied by both.
        finish(begin_send(comm, data, 1, 1));
        (void)begin_send(comm, data, 1, 2);
        while (!over && seed % 2 == 0) pause(1);
        return ranks.die(rank);
      }
      Bytes room(data.size());
      finish(begin_receive(comm, room, 0, 1));
      Request& r = begin_receive(comm, room, 0, 2);
      Peer& peer = peers->of(0);
      while (!is_done(r) && pending_with(peer).copies_in == 0) pause(1);
      const bool open = !is_done(r);
      EXPECT_EQ(end_pending(peer, other_error), open ? 1 : 0);
      over = true;
      EXPECT_EQ(pending_with(peer).copies_in, 0);
      EXPECT_TRUE(is_done(r));
      EXPECT_EQ(r.error, open ? other_error : no_error);
      free_request(&r);
      ended += open ? 1 : 0;
    });
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(ended, 0);
}

// The sender dies in the middle of a stream, received or kept.
TEST(Failure, AStreamThatBreaksOffEndsItsReceiveAndIsForgottenWhenItHasNone) {
  const Setting off("WEFT_RENDEZVOUS", 0);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const bool received = seed % 2 == 0;
    Ranks ranks({.seed = seed, .wire = {.room = 2}});
    bool dead = false;
    const Bytes data = pattern(100000);
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      if (rank == 0) {
        (void)begin_send(comm, data, 1, 1);
        dead = true;
        return ranks.die(rank);
      }
      Bytes room(data.size());
      Request* r = received ? &begin_receive(comm, room, 0, 1) : nullptr;
      while (!dead) pause(1);
      pause(10);  // the chunks that it sent before are here
      Peer& peer = peers->of(0);
      EXPECT_EQ(pending_with(peer).streams_in, 1);
      EXPECT_EQ(end_pending(peer, other_error), received ? 1 : 0);
      EXPECT_EQ(pending_with(peer).streams_in, 0);
      EXPECT_FALSE(probe(comm.context, 0, 1, nullptr));
      if (r == nullptr) return;
      EXPECT_TRUE(is_done(*r));
      EXPECT_EQ(r->error, other_error);
      free_request(r);
    });
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace weft::core
