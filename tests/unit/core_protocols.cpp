// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Every protocol, flow control and waiting between several worlds of one process. Each test runs under many seeds, and
// asserts the data and the path that the counters tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/lane/lane.hpp"
#include "core/object/identity.hpp"
#include "core/protocol/wire.hpp"
#include "core_messages.hpp"
#include "datatype/pack.hpp"

namespace weft::core {
namespace {

using test::Plan;
using test::Ranks;
using test::Setting;

// Three messages of this size from rank 0 to rank 1, all of which take this path.
void expect_path(Plan plan, size_t bytes, Path path, Mode mode = Mode::standard) {
  constexpr int messages = 3;
  for (plan.seed = 1; plan.seed <= seeds; ++plan.seed) {
    Ranks ranks(plan);
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      Bytes data[messages];
      Request* requests[messages];
      for (int i = 0; i < messages; ++i) {
        data[i] = rank == 0 ? pattern(bytes, i) : Bytes(bytes);
        requests[i] = rank == 0 ? &begin_send(comm, data[i], 1, i, mode) : &begin_receive(comm, data[i], 0, i);
      }
      for (int i = 0; i < messages; ++i) {
        wait(*requests[i]);
        EXPECT_EQ(requests[i]->error, no_error);
        EXPECT_EQ(requests[i]->received, rank == 0 ? 0 : static_cast<int64_t>(bytes));
        free_request(requests[i]);
        EXPECT_EQ(data[i], pattern(bytes, i)) << "seed " << plan.seed;
      }
    });
    if (testing::Test::HasFatalFailure()) return;
    const Counters counted = ranks.counters(0);
    for (int p = 0; p < path_count; ++p) {
      EXPECT_EQ(counted.sent[p].messages, p == static_cast<int>(path) ? messages : 0U)
          << path_names[p] << ", seed " << plan.seed;
    }
    EXPECT_EQ(counted.sent[static_cast<int>(path)].bytes, messages * bytes);
    EXPECT_EQ(ranks.world(0).lanes.sends_open(), 0);
  }
}

TEST(Protocols, SmallMessagesGoIntoTheMailbox) {
  for (const size_t bytes : {0, 1, 8, 256}) expect_path({}, bytes, Path::mailbox);
}

TEST(Protocols, MessagesUpToTheEagerLimitGoThroughStagingMemory) {
  for (const size_t bytes : {257, 4096, 32768}) expect_path({}, bytes, Path::buffer);
}

TEST(Protocols, LargeMessagesAreReadByTheReceiver) {
  expect_path({}, 32769, Path::get);
  expect_path({}, 200000, Path::get);  // by both sides
}

TEST(Protocols, UnreadableMemoryIsStreamed) {
  for (const size_t bytes : {32769, 200000}) expect_path({.wire = {.memory = false}}, bytes, Path::stream);
}

TEST(Protocols, WithoutRendezvousLargeMessagesAreStreamedUnasked) {
  const Setting off("WEFT_RENDEZVOUS", 0);
  expect_path({}, 100000, Path::stream);
}

TEST(Protocols, AFullWayDelaysAndLosesNothing) {
  const test::Wire narrow{.room = 2, .full_one_in = 3, .staging = 1};
  expect_path({.wire = narrow}, 100, Path::mailbox);
  expect_path({.wire = narrow}, 40000, Path::get);
  expect_path({.wire = {.room = 2, .full_one_in = 3, .staging = 1, .memory = false}}, 40000, Path::stream);
}

TEST(Protocols, SeveralLanesTakeTheSamePaths) {
  expect_path({.lanes = 4}, 8, Path::mailbox);
  expect_path({.lanes = 4}, 4096, Path::buffer);
  expect_path({.lanes = 4}, 200000, Path::get);
  expect_path({.lanes = 4, .wire = {.memory = false}}, 200000, Path::stream);
}

TEST(Protocols, ASynchronousSendWaitsForItsMatch) {
  for (const size_t bytes : {8, 4096, 100000}) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      Ranks ranks({.seed = seed});
      bool posted = false;
      ranks.run([&](int32_t rank) {
        Comm& comm = ranks.comm(rank);
        if (rank == 0) {
          const Bytes data = pattern(bytes);
          Request& r = begin_send(comm, data, 1, 5, Mode::synchronous);
          wait(r);
          EXPECT_TRUE(posted) << "complete before it was matched, seed " << seed;
          return free_request(&r);
        }
        pause(60);
        posted = true;
        Bytes room(bytes);
        finish(begin_receive(comm, room, 0, 5));
        EXPECT_EQ(room, pattern(bytes));
      });
      EXPECT_EQ(ranks.sent(0, bytes == 8 ? Path::mailbox : Path::get), 1U);
    }
  }
}

// A column of a matrix: `count` blocks of 512 bytes, each 1024 behind the other.
struct Column {
  explicit Column(int64_t count) : type(datatype::vector(count, 512, 1024, byte_type())), bytes(count * 512) {}
  ~Column() { datatype::destroy(type); }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  Bytes packed(const Bytes& matrix) const {
    Bytes out(static_cast<size_t>(bytes));
    datatype::pack(*type, 1, matrix.data(), 0, out.data(), bytes);
    return out;
  }
  Type* const type;
  const int64_t bytes;
};

// A column, sent from a layout with gaps or received into one.
void expect_column(int64_t count, Path path, bool gaps_at_sender) {
  const Column column(count);
  const Bytes matrix = pattern(static_cast<size_t>(count) * 1024);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Ranks ranks({.seed = seed});
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      Bytes plain = column.packed(matrix);
      if (rank == 0) {
        return finish(gaps_at_sender ? begin_send(comm, matrix.data(), 1, *column.type, 1, 0)
                                     : begin_send(comm, plain, 1, 0));
      }
      Bytes room(gaps_at_sender ? plain.size() : matrix.size());
      Request& r = *new_request(comm, Role::receive);
      set_buffer(r, room.data(), gaps_at_sender ? column.bytes : 1, gaps_at_sender ? byte_type() : *column.type);
      start_receive(r, comm.context, 0, 0);
      finish(r);
      EXPECT_EQ(gaps_at_sender ? room : column.packed(room), plain) << "seed " << seed;
    });
    EXPECT_EQ(ranks.sent(0, path), 1U) << "seed " << seed;
  }
}

TEST(Protocols, LayoutsWithGapsAreStreamedOrWhenLargeCopiedByTheSideThatHasTheGaps) {
  for (const bool gaps_at_sender : {true, false}) {
    expect_column(4, Path::buffer, gaps_at_sender);
    expect_column(100, Path::stream, gaps_at_sender);
    expect_column(4096, Path::get, gaps_at_sender);
  }
}

TEST(Protocols, AMessageThatIsTooLongIsCutAndSaysSo) {
  for (const size_t bytes : {100, 4096, 40000, 200000}) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      Ranks ranks({.seed = seed});
      ranks.run([&](int32_t rank) {
        Comm& comm = ranks.comm(rank);
        const Bytes data = pattern(bytes);
        if (rank == 0) return finish(begin_send(comm, data, 1, 0));
        Bytes room(bytes / 2 + 16, 0xee);
        Request& r = *new_request(comm, Role::receive);
        set_buffer(r, room.data(), static_cast<int64_t>(bytes / 2), byte_type());
        start_receive(r, comm.context, 0, 0);
        wait(r);
        EXPECT_EQ(r.error, truncated);
        EXPECT_EQ(r.received, static_cast<int64_t>(bytes / 2));
        free_request(&r);
        EXPECT_TRUE(std::equal(data.begin(), data.begin() + static_cast<ptrdiff_t>(bytes / 2), room.begin()));
        EXPECT_EQ(Bytes(room.end() - 16, room.end()), Bytes(16, 0xee)) << "written beyond its buffer";
      });
    }
  }
}

TEST(Protocols, ASendThatNobodyReceivedIsRecalled) {
  for (const Mode mode : {Mode::standard, Mode::synchronous}) {
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      Ranks ranks({.seed = seed});
      bool over = false;
      ranks.run([&](int32_t rank) {
        Comm& comm = ranks.comm(rank);
        if (rank == 1) {
          while (!over) pause(1);
          Outcome outcome;
          EXPECT_FALSE(probe(comm.context, 0, 3, &outcome)) << "seed " << seed;
          return;
        }
        const Bytes data = pattern(mode == Mode::standard ? 40000 : 8);
        Request& r = begin_send(comm, data, 1, 3, mode);
        pause(static_cast<int>(seed % 8));  // announced, kept, or neither
        cancel(r);
        wait(r);
        EXPECT_TRUE(r.flags.cancelled);
        free_request(&r);
        over = true;
      });
      EXPECT_EQ(ranks.world(0).lanes.sends_open(), 0);
    }
  }
}

TEST(Protocols, ACancelledSendIsReceivedOrRecalledAndNeverBoth) {
  int recalled = 0;
  for (uint64_t seed = 1; seed <= 4 * seeds; ++seed) {
    Ranks ranks({.seed = seed});
    bool cancelled = false;
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      Bytes data = pattern(40000);
      if (rank == 0) {
        Request& r = begin_send(comm, data, 1, 3);
        pause(static_cast<int>(seed % 5));
        cancel(r);
        wait(r);
        cancelled = r.flags.cancelled;
        free_request(&r);
        finish(begin_send(comm, Bytes{1}, 1, 3));
        return;
      }
      pause(static_cast<int>(seed % 7));
      Bytes room(40000);
      Request& r = begin_receive(comm, room, 0, 3);
      wait(r);
      const bool first = r.received == 40000;
      free_request(&r);
      if (first) {
        EXPECT_EQ(room, data);
        finish(begin_receive(comm, room, 0, 3));
      }
      EXPECT_EQ(room[0], 1);
      EXPECT_EQ(first, !cancelled) << "seed " << seed;
    });
    recalled += cancelled ? 1 : 0;
  }
  EXPECT_GT(recalled, 0);
  EXPECT_LT(recalled, static_cast<int>(4 * seeds));
}

TEST(FlowControl, MessagesThatFoundTheWayFullKeepTheirOrder) {
  constexpr int messages = 60;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Ranks ranks({.seed = seed, .wire = {.room = 2, .full_one_in = 4}});
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      std::vector<Bytes> data;
      std::vector<Request*> requests;
      for (int i = 0; i < messages; ++i) data.push_back(rank == 0 ? pattern(8, i) : Bytes(8));
      for (int i = 0; i < messages; ++i) {
        requests.push_back(rank == 0 ? &begin_send(comm, data[static_cast<size_t>(i)], 1, 1)
                                     : &begin_receive(comm, data[static_cast<size_t>(i)], 0, 1));
      }
      for (Request* r : requests) finish(*r);
      for (int i = 0; i < messages; ++i) EXPECT_EQ(data[static_cast<size_t>(i)], pattern(8, i)) << "seed " << seed;
    });
    EXPECT_GT(ranks.counters(0).retries, 0U);
    EXPECT_EQ(ranks.sent(0, Path::mailbox), static_cast<uint64_t>(messages));
  }
}

// A receiver that posts nothing keeps what its limit allows. Then its senders announce their messages and keep the
// data. Once the receiver has caught up, they send data again.
TEST(FlowControl, ASaturatedReceiverIsSentEnvelopesAloneUntilItHasCaughtUp) {
  constexpr int64_t limit = 64 << 10;
  constexpr size_t bytes = 1000;
  constexpr int messages = 200;
  const Setting least("WEFT_UNEXPECTED_LIMIT", limit);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Ranks ranks({.ranks = 3, .seed = seed});
    bool caught_up = false;
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      if (rank != 0) {
        std::vector<Bytes> data;
        std::vector<Request*> requests;
        for (int i = 0; i < messages; ++i) {
          data.push_back(pattern(bytes, rank + i));
          requests.push_back(&begin_send(comm, data.back(), 0, rank));
          pause(1);
        }
        for (Request* r : requests) finish(*r);
        while (!caught_up) pause(1);
        const uint64_t before = ranks.sent(rank, Path::buffer);
        finish(begin_send(comm, pattern(bytes), 0, 9));
        EXPECT_EQ(ranks.sent(rank, Path::buffer), before + 1) << "seed " << seed;
        return;
      }
      while (core::lanes->all[0].matcher.kept() < 2 * messages) pause(1);
      EXPECT_EQ(core::lanes->saturated.load(), 1);
      Bytes room(bytes);
      for (int i = 0; i < messages; ++i) {
        for (const int32_t source : {2, 1}) {
          finish(begin_receive(comm, room, source, source));
          EXPECT_EQ(room, pattern(bytes, source + i)) << "seed " << seed;
        }
      }
      EXPECT_EQ(core::lanes->saturated.load(), 0);
      caught_up = true;
      for (int i = 0; i < 2; ++i) finish(begin_receive(comm, room, any_source, 9));
    });
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(ranks.counters(0).saturations, 1U) << "seed " << seed;
    EXPECT_GT(ranks.sent(1, Path::get), 0U);
    EXPECT_GT(ranks.sent(2, Path::get), 0U);
    // Above the limit: the messages under way, in the staging memory of both senders, and the RTS of the others.
    const auto most = static_cast<int64_t>(ranks.world(0).lanes.all[0].most_unexpected_bytes);
    const auto staged = static_cast<int64_t>(2 * test::Wire().staging * bytes);
    EXPECT_LE(most, limit + staged + 2 * messages * static_cast<int64_t>(sizeof(wire::Rts))) << "seed " << seed;
  }
}

// Ranks in a ring pass a number on; each waits for the one before it.
void expect_ring(const Plan& plan, size_t bytes) {
  constexpr int rounds = 5;
  Ranks ranks(plan);
  ranks.run([&](int32_t rank) {
    Comm& comm = ranks.comm(rank);
    const int32_t next = (rank + 1) % plan.ranks;
    const int32_t before = (rank + plan.ranks - 1) % plan.ranks;
    for (int i = 0; i < rounds; ++i) {
      Bytes room(bytes);
      if (rank == 0) finish(begin_send(comm, pattern(bytes, i), next, i));
      finish(begin_receive(comm, room, before, i));
      EXPECT_EQ(room, pattern(bytes, i));
      if (rank != 0) finish(begin_send(comm, room, next, i));
    }
  });
  if (testing::Test::HasFatalFailure()) return;
  uint64_t sleeps = 0;
  for (int32_t rank = 0; rank < plan.ranks; ++rank) sleeps += ranks.counters(rank).sleeps;
  EXPECT_GT(sleeps, 0U);
}

TEST(Waiting, NoWakeUpIsLost) {
  for (uint64_t seed = 1; seed <= 4 * seeds; ++seed) {
    expect_ring({.ranks = 4, .seed = seed, .spin_rounds = 0}, 8);
    expect_ring({.ranks = 3, .seed = seed, .spin_rounds = 2}, 40000);
    expect_ring({.ranks = 3, .seed = seed, .lanes = 4, .spin_rounds = 0}, 8);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Waiting, AWaitThatMakesProgressDoesNotSleep) {
  Ranks ranks({.spin_rounds = 1000000});
  ranks.run([&](int32_t rank) {
    Bytes data = rank == 0 ? pattern(8) : Bytes(8);
    finish(rank == 0 ? begin_send(ranks.comm(rank), data, 1, 0) : begin_receive(ranks.comm(rank), data, 0, 0));
  });
  EXPECT_EQ(ranks.counters(0).sleeps + ranks.counters(1).sleeps, 0U);
}

TEST(World, SeveralLiveInOneProcessOneAfterTheOther) {
  for (int again = 0; again < 3; ++again) {
    Ranks ranks({.ranks = 5});
    ranks.run([&](int32_t rank) {
      Comm& comm = ranks.comm(rank);
      EXPECT_EQ(identity->rank, rank);
      Bytes room(4);
      Request& r = begin_receive(comm, room, (rank + 4) % 5, 0);
      finish(begin_send(comm, pattern(4, rank), (rank + 1) % 5, 0));
      finish(r);
      EXPECT_EQ(room, pattern(4, (rank + 4) % 5));
    });
    for (int32_t rank = 0; rank < 5; ++rank) {
      EXPECT_EQ(ranks.sent(rank, Path::mailbox), 1U) << "each counts its own";
    }
  }
}

}  // namespace
}  // namespace weft::core
