// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The transport between hosts on top of a carrier (transport/net).
#include "transport_net.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/message.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::net {
namespace {

TEST(Net, BringsMessages) {
  Two two(false);
  seen.clear();
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(two.way->send(1, {7, i, 3, 0}, "data", 4), Post::done);
    for (auto& one : two.transports) (void)one->poll(0, record);
    (void)two.transports[0]->poll(0, record);
  }
  ASSERT_EQ(seen.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)].source, i);
}

// The results of pushed messages.
struct Pushed {
  std::vector<Envelope> seen;
  unsigned char data[pushed_most];
  size_t room = 0;
  NotedRead read;
  int left = 0;
} pushed;
void take_pushed(const Arrival& a) {
  pushed.seen.push_back(a.envelope);
  destination_of(a) = {pushed.data, pushed.room, &pushed.read};
}

struct Failure {
  int rank;
  std::string text;
};
std::vector<Failure> failures;

TEST(Net, APostToALostPeerSaysLostAndIsReportedOnce) {
  Two two(true);
  failures.clear();
  set_failure_sink([](int rank, const base::Problem& problem) { failures.push_back({rank, base::describe(problem)}); });
  two.carriers[0]->broken = ECONNRESET;
  EXPECT_EQ(two.way->send(1, {7, 1, 3, 0}, nullptr, 0), Post::lost);
  EXPECT_EQ(two.way->send(1, {7, 1, 4, 0}, nullptr, 0), Post::lost);
  const Staging staging = two.transports[0]->reserve_staging(100);
  EXPECT_EQ(two.way->send_staged(1, {7, 1, 5, 0}, "x", 1, staging, 100), Post::lost);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].rank, 1);
  EXPECT_NE(failures[0].text.find("a message to rank 1, on another host, cannot be delivered"), std::string::npos);
  two.carriers[0]->broken = 0;
  EXPECT_EQ(two.back->send(1, {7, 0, 6, 0}, nullptr, 0), Post::done) << "the other way goes on";
  set_failure_sink(nullptr);
}

TEST(Net, SaysThatThereAreTooFewDescriptors) {
  Two two(true);
  failures.clear();
  set_failure_sink([](int rank, const base::Problem& problem) { failures.push_back({rank, base::describe(problem)}); });
  two.carriers[0]->broken = EMFILE;
  EXPECT_EQ(two.way->send(1, {7, 1, 3, 0}, nullptr, 0), Post::lost);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_NE(failures[0].text.find("Remedy: raise the limit of open files (ulimit -n)"), std::string::npos)
      << failures[0].text;
  set_failure_sink(nullptr);
}

TEST(Net, SaysThatThereIsNoWayToARankThatPublishedNoAddress) {
  Two two(true, false);
  failures.clear();
  set_failure_sink([](int rank, const base::Problem& problem) { failures.push_back({rank, base::describe(problem)}); });
  published[0]["weft-lanes"] = "0/inside/nothing";
  EXPECT_EQ(two.transports[1]->connect(0), nullptr);
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[0].rank, 0);
  EXPECT_NE(failures[0].text.find("what rank 0 published is no address of a carrier"), std::string::npos);
  set_failure_sink(nullptr);
}

TEST(Net, PushesWhatTheCarrierCan) {
  Two two(true);
  pushed = {.seen = {}, .data = {}, .room = 9, .read = {}};
  const Left left{[](void* whose) { ++*static_cast<int*>(whose); }, &pushed.left};
  EXPECT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", pushed_most + 1, left), Post::unsupported) << "too large";
  ASSERT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", 11, left), Post::posted);
  EXPECT_EQ(pushed.left, 0);
  (void)two.transports[1]->poll(0, take_pushed);
  (void)two.transports[0]->poll(0, record);
  EXPECT_EQ(pushed.left, 1);
  ASSERT_EQ(pushed.seen.size(), 1u);
  EXPECT_EQ(pushed.seen[0].tag, 3);
  EXPECT_EQ(pushed.read.ended, 1);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(pushed.data), 11), std::string("pushed da\0\0", 11));
  Two none(false);
  EXPECT_EQ(none.way->push(1, {7, 1, 3, 0}, "pushed data", 11, left), Post::unsupported);
  EXPECT_EQ(none.transports[0]->capabilities().push_most, 0u);
  EXPECT_LT(none.transports[0]->eager_bytes(), two.transports[0]->eager_bytes());
}

// A receiver that does not look gets no more than it can bear: half as many large ones as small ones.
TEST(Net, PushesWithinAWindow) {
  for (const size_t bytes : {staging_most, staging_most + 1}) {
    Two two(true);
    pushed = {.seen = {}, .data = {}, .room = pushed_most, .read = {}};
    const std::vector<unsigned char> data(bytes);
    const auto push = [&] {
      const Post begun = two.way->push(1, {7, 1, 3, 0}, data.data(), bytes, {[](void*) {}, nullptr});
      (void)two.transports[0]->poll(0, record);  // so that buffers are not what is missing
      return begun;
    };
    uint32_t count = 0;
    while (count < 100 && push() == Post::posted) ++count;
    EXPECT_EQ(count, bytes == staging_most ? 64u : 32u);
    EXPECT_EQ(push(), Post::retry);
    (void)two.transports[1]->poll(0, take_pushed);
    EXPECT_EQ(pushed.seen.size(), count);
    (void)two.transports[0]->poll(0, record);
    EXPECT_EQ(push(), Post::posted) << "when the receiver has told";
  }
}

// A carrier may bring a message before those that were sent before it; of pushed ones it keeps the order.
TEST(Net, WhatOvertookPushedDataComesBehindThem) {
  Two two(true);
  pushed = {.seen = {}, .data = {}, .room = pushed_most, .read = {}};
  ASSERT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", 11, {}), Post::posted);
  ASSERT_EQ(two.way->send(2, {7, 1, 4, 0}, nullptr, 0), Post::done);
  ASSERT_EQ(two.way->send(2, {7, 1, 5, 0}, nullptr, 0), Post::done);
  auto& came = two.carriers[1]->came();
  std::swap(came[0], came[2]);
  (void)two.transports[1]->poll(
      0, [](const Arrival& a) { a.kind == 1 ? take_pushed(a) : pushed.seen.push_back(a.envelope); });
  ASSERT_EQ(pushed.seen.size(), 3u);
  EXPECT_EQ(pushed.seen[0].tag, 3);
  EXPECT_EQ(pushed.seen[1].tag, 4);
  EXPECT_EQ(pushed.seen[2].tag, 5);
  EXPECT_EQ(pushed.read.ended, 1);
  ASSERT_EQ(two.way->send(1, {7, 1, 6, 0}, nullptr, 0), Post::done);
  ASSERT_EQ(two.way->send(1, {7, 1, 7, 0}, nullptr, 0), Post::done);
  std::swap(came[0], came[1]);
  came.pop_back();
  (void)two.transports[1]->poll(0, record);
  EXPECT_FALSE(two.carriers[1]->in_turn) << "the carrier is told, as it may have the other elsewhere";
}

// Frames that a process without the secret could make of those that it has seen on the network: sent again, or changed
// in any byte of their header. None of them is taken, nor keeps the next true one from being taken; a changed one is
// reported.
TEST(Net, BelievesNoFrameThatIsSentAgainOrChanged) {
  Two two(false);
  seen.clear();
  failures.clear();
  set_failure_sink([](int rank, const base::Problem& problem) { failures.push_back({rank, base::describe(problem)}); });
  auto& came = two.carriers[1]->came();
  std::vector<std::vector<unsigned char>> all;
  for (uint32_t i = 0; i < 70000; ++i) {  // beyond the numbers that fit into a header
    while (two.way->send(1, {7, 1, static_cast<int32_t>(i), 0}, nullptr, 0) == Post::retry) {
      (void)two.transports[1]->poll(0, record);
      (void)two.transports[0]->poll(0, record);
    }
    if (i < 3 && !came.empty()) all.push_back(came.back());
    if (i == 65535 || i == 65536) {
      for (const auto& old : all) came.push_back(old);
    }
    (void)two.transports[1]->poll(0, record);
    ASSERT_EQ(seen.size(), i + 1);
  }
  EXPECT_EQ(all.size(), 3u);
  EXPECT_TRUE(failures.empty());
  while (two.way->send(1, {7, 1, -1, 0}, nullptr, 0) == Post::retry) {
    (void)two.transports[1]->poll(0, record);
    (void)two.transports[0]->poll(0, record);
  }
  const std::vector<unsigned char> good = came.back();
  came.clear();
  for (size_t at = 0; at < sizeof(Header); ++at) {
    came.push_back(good);
    came.back()[at] ^= 1;
    (void)two.transports[1]->poll(0, record);
    ASSERT_EQ(failures.size(), at + 1);
    EXPECT_EQ(failures.back().rank, 0);
    EXPECT_NE(failures.back().text.find("data were changed on their way from rank 0 on host"), std::string::npos);
  }
  EXPECT_EQ(seen.size(), 70000u);
  came.push_back(good);
  (void)two.transports[1]->poll(0, record);
  EXPECT_EQ(seen.back().tag, -1);
  set_failure_sink(nullptr);
}

TEST(Net, ReportsDataThatWereChanged) {
  Two two(false);
  seen.clear();
  failures.clear();
  set_failure_sink([](int rank, const base::Problem& problem) { failures.push_back({rank, base::describe(problem)}); });
  ASSERT_EQ(two.way->send(1, {7, 1, 3, 0}, "abc", 3), Post::done);
  const std::vector<unsigned char> good = two.carriers[1]->came().back();
  two.carriers[1]->came().back()[sizeof(Header) + 1] ^= 4;
  (void)two.transports[1]->poll(0, record);
  EXPECT_EQ(failures.size(), 1u);
  EXPECT_TRUE(seen.empty());
  two.carriers[1]->came().push_back(good);
  (void)two.transports[1]->poll(0, record);
  EXPECT_EQ(seen.size(), 1u);
  set_failure_sink(nullptr);
}

// A process without the secret does not know how a frame begins: it cannot make one that looks like a changed frame of
// a rank.
TEST(Net, DropsTheFramesOfStrangers) {
  Two two(false);
  failures.clear();
  set_failure_sink([](int rank, const base::Problem& problem) { failures.push_back({rank, base::describe(problem)}); });
  for (uint32_t origin = 0; origin < 4; ++origin) {
    const Header header = {.magic = magic, .origin = origin, .kind = 1};
    const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
    two.carriers[1]->came().emplace_back(bytes, bytes + sizeof header);
  }
  two.carriers[1]->came().emplace_back(20);
  (void)two.transports[1]->poll(0, record);
  EXPECT_TRUE(failures.empty());
  set_failure_sink(nullptr);
}

namespace {

std::vector<std::string> texts;
void keep_text(const Arrival& a) {
  texts.emplace_back(static_cast<const char*>(a.data), a.bytes);
}

}  // namespace

// Messages are not to be read on their way, whatever their length; staged data neither.
TEST(Net, EncryptsWhatMessagesBring) {
  std::string why_not;
  if (!cipher_is_there(why_not)) GTEST_SKIP() << why_not;
  Two two(true, true, true);
  EXPECT_FALSE(two.transports[0]->capabilities().read || two.transports[0]->capabilities().write);
  EXPECT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", 11, {}), Post::unsupported);
  texts.clear();
  std::vector<std::string> sent;
  auto& came = two.carriers[1]->came();
  for (size_t bytes = 0; bytes <= 64; ++bytes) {
    sent.emplace_back(bytes, 'x');
    while (two.way->send(1, {7, 1, 3, 0}, sent.back().data(), static_cast<uint32_t>(bytes)) == Post::retry) {
      (void)two.transports[1]->poll(0, keep_text);
      (void)two.transports[0]->poll(0, keep_text);
    }
    const std::string on_the_way(came.back().begin(), came.back().end());
    EXPECT_EQ(on_the_way.find("xxxx"), std::string::npos);
    EXPECT_EQ(on_the_way.size(), sizeof(Header) + bytes + tag_bytes);
    (void)two.transports[1]->poll(0, keep_text);
  }
  EXPECT_EQ(texts, sent);
  const Staging staging = two.transports[0]->reserve_staging(staging_most);
  ASSERT_NE(staging.memory, nullptr);
  std::memset(staging.memory, 'y', staging_most);
  two.carriers[0]->full = true;  // not now: the staged data are still there
  EXPECT_EQ(two.way->send_staged(1, {7, 1, 4, 0}, "abc", 3, staging, staging_most), Post::retry);
  two.carriers[0]->full = false;
  EXPECT_EQ(two.way->send_staged(1, {7, 1, 4, 0}, "abc", 3, staging, staging_most), Post::done);
  const std::string on_the_way(came.back().begin(), came.back().end());
  EXPECT_EQ(on_the_way.find("yyyy"), std::string::npos);
  static std::string staged;
  (void)two.transports[1]->poll(0, [](const Arrival& a) {
    staged.assign(static_cast<const char*>(a.data) + a.bytes, staging_most);
    keep_text(a);
  });
  EXPECT_EQ(texts.back(), "abc");
  EXPECT_EQ(staged, std::string(staging_most, 'y'));
}

TEST(NetDeathTest, EndsAJobWhoseMessagesAreChanged) {
  std::string why_not;
  if (!cipher_is_there(why_not)) GTEST_SKIP() << why_not;
  Two two(false, true, true);
  ASSERT_EQ(two.way->send(1, {7, 1, 3, 0}, "abc", 3), Post::done);
  two.carriers[1]->came().back()[sizeof(Header)] ^= 1;
  EXPECT_EXIT((void)two.transports[1]->poll(0, keep_text), testing::ExitedWithCode(1),
              "data were changed on their way from rank 0 on host .* to rank 1 on host .*, over inside");
}

// A rank that encrypts believes no frame that is not.
TEST(Net, TakesNothingPlainWhereMessagesAreEncrypted) {
  std::string why_not;
  if (!cipher_is_there(why_not)) GTEST_SKIP() << why_not;
  std::vector<unsigned char> plain;
  {
    Two two(false);
    ASSERT_EQ(two.way->send(1, {7, 1, 3, 0}, "abc", 3), Post::done);
    plain = two.carriers[1]->came().back();
  }
  Two two(false, true, true);
  texts.clear();
  two.carriers[1]->came().push_back(plain);
  failures.clear();
  set_failure_sink([](int rank, const base::Problem& problem) { failures.push_back({rank, base::describe(problem)}); });
  (void)two.transports[1]->poll(0, keep_text);
  EXPECT_TRUE(texts.empty());
  EXPECT_EQ(failures.size(), 1u);
  set_failure_sink(nullptr);
}

TEST(Net, BelievesNoPushedDataOutOfTurn) {
  Two two(true);
  pushed = {.seen = {}, .data = {}, .room = pushed_most, .read = {}};
  const auto push = [&](size_t at, unsigned char byte) {
    EXPECT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", 11, {}), Post::posted);
    two.carriers[1]->came().back()[at] = byte;
    (void)two.transports[1]->poll(0, take_pushed);
  };
  push(offsetof(Header, proof), 99);
  EXPECT_EQ(two.carriers[1]->refused, 1) << "how many bytes follow is not to be believed";
  push(offsetof(Header, bytes) + 3, 1);
  EXPECT_EQ(two.carriers[1]->refused, 2) << "so many bytes do not follow";
  push(offsetof(Header, sequence), 5);
  EXPECT_EQ(two.carriers[1]->refused, 3);
  EXPECT_TRUE(pushed.seen.empty());
}

TEST(Net, LendsLargeMemoryUntilItIsTakenBack) {
  Two two(true);
  std::vector<unsigned char> memory(static_cast<size_t>(read_from(adapters_read_from)));
  NetTransport& owner = *two.transports[0];
  EXPECT_EQ(owner.register_memory(memory.data(), memory.size() - 1, Access::read).key, MemoryRef::no_key) << "small";
  EXPECT_EQ(owner.register_memory(memory.data(), memory.size(), Access::named).key, MemoryRef::no_key)
      << "not asked to";
  EXPECT_EQ(two.carriers[0]->registered.size(), 0u);
  const MemoryRef registered = owner.register_memory(memory.data(), memory.size(), Access::read);
  EXPECT_NE(registered.key, MemoryRef::no_key);
  EXPECT_EQ(two.carriers[0]->registered.size(), 1u);
  owner.deregister(registered);
  EXPECT_EQ(two.carriers[0]->registered.size(), 0u);
  two.carriers[0]->refuse_to_register = true;
  EXPECT_EQ(owner.register_memory(memory.data(), memory.size(), Access::read).key, MemoryRef::no_key);
}

TEST(Net, ReadsInPieces) {
  Two two(true);
  std::vector<unsigned char> memory((9 << 20) + 5);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>(i * 31 + i / 251);
  const MemoryRef registered = two.transports[0]->register_memory(memory.data(), memory.size(), Access::read);
  std::vector<unsigned char> here(memory.size());
  NotedRead reads[4];
  size_t at = 0;
  int pieces = 0;
  while (at < memory.size()) {
    ASSERT_LT(pieces, 4);
    size_t bytes = memory.size() - at;
    const Post begun = two.back->read(registered, at, here.data() + at, bytes, 0, reads[pieces]);
    if (begun == Post::retry) {
      EXPECT_EQ(two.carriers[1]->pending.size(), 2u);
      two.carriers[1]->reads_to_end = 1;
      EXPECT_EQ(two.transports[1]->poll(0, record), 1);
      continue;
    }
    ASSERT_EQ(begun, Post::posted);
    EXPECT_LE(bytes, 4u << 20);
    at += bytes;
    ++pieces;
  }
  EXPECT_EQ(pieces, 3);
  two.carriers[1]->reads_to_end = 3;
  (void)two.transports[1]->poll(0, record);
  for (int i = 0; i < pieces; ++i) EXPECT_TRUE(reads[i].ended == 1 && reads[i].error == 0) << i;
  EXPECT_EQ(here, memory);
  two.carriers[1]->most = 1000;  // of a provider with small messages
  size_t bytes = memory.size();
  ASSERT_EQ(two.back->read(registered, 0, here.data(), bytes, 0, reads[3]), Post::posted);
  EXPECT_EQ(bytes, 1000u);
}

TEST(Net, WhatHasNoKeyIsNotRead) {
  Two two(true);
  char here[8];
  size_t bytes = sizeof here;
  NotedRead read;
  EXPECT_EQ(two.back->read({reinterpret_cast<uint64_t>(here), MemoryRef::no_key}, 0, here, bytes, 0, read),
            Post::unsupported);
  EXPECT_EQ(two.back->read({0, 12345}, 0, here, bytes, 0, read), Post::unsupported) << "unknown to the carrier";
  EXPECT_EQ(read.ended, 0);
}

TEST(Net, ACarrierWithoutReadsLendsNothing) {
  Two two(false);
  std::vector<unsigned char> memory(static_cast<size_t>(read_from(adapters_read_from)));
  EXPECT_EQ(two.transports[0]->register_memory(memory.data(), memory.size(), Access::read).key, MemoryRef::no_key);
  size_t bytes = memory.size();
  NotedRead read;
  EXPECT_EQ(two.back->read({0, 5}, 0, memory.data(), bytes, 0, read), Post::unsupported);
}

// The last one that was said counts, in whatever order they come. Odd ones: envelopes alone.
TEST(Net, WordsOnCongestionMayComeInAnyOrder) {
  Two two(false);
  const auto say = [&](bool on) {
    two.transports[1]->set_congested(on);
    (void)two.transports[1]->poll(0, record);
  };
  const auto hear = [&] { (void)two.transports[0]->poll(0, record); };
  ASSERT_EQ(two.way->send(1, {7, 0, 0, 0}, nullptr, 0), Post::done);
  (void)two.transports[1]->poll(0, record);
  say(true);
  hear();
  EXPECT_TRUE(two.way->congested());
  say(false);
  say(true);
  say(false);
  auto& came = two.carriers[0]->came();
  ASSERT_EQ(came.size(), 3u);
  std::swap(came[0], came[2]);
  hear();
  EXPECT_FALSE(two.way->congested());
}

// During the last barrier the launcher answers to that alone. A first sender to us then needs no answer; nor does who
// has sent before and is not so many messages behind any more.
TEST(Net, AsksNobodyWhoItsPeersAreOnceItLeaves) {
  Two two(false, false);
  seen.clear();
  two.transports[1]->leave();
  const int before = questions;
  two.transports[0]->set_congested(true);
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(two.way->send(1, {7, 0, i, 0}, nullptr, 0), Post::done);
    (void)two.transports[0]->poll(0, record);
    (void)two.transports[1]->poll(0, record);
  }
  two.transports[0]->set_congested(false);
  (void)two.transports[0]->poll(0, record);
  (void)two.transports[1]->poll(0, record);
  EXPECT_EQ(seen.size(), 30u);
  EXPECT_EQ(questions, before);
}

TEST(Net, AReadThatFailsIsTheLast) {
  Two two(true);
  std::vector<unsigned char> memory(1 << 20);
  const MemoryRef registered = two.transports[0]->register_memory(memory.data(), memory.size(), Access::read);
  NotedRead read;
  size_t bytes = memory.size();
  ASSERT_EQ(two.back->read(registered, 0, memory.data(), bytes, 0, read), Post::posted);
  two.carriers[1]->error = EIO;
  two.carriers[1]->reads_to_end = 1;
  (void)two.transports[1]->poll(0, record);
  EXPECT_EQ(read.ended, 1);
  EXPECT_EQ(read.error, EIO);
  EXPECT_EQ(two.back->read(registered, 0, memory.data(), bytes, 0, read), Post::unsupported);
  EXPECT_EQ(two.transports[1]->register_memory(memory.data(), memory.size(), Access::read).key, MemoryRef::no_key);
  two.transports[0]->deregister(registered);
  EXPECT_EQ(two.carriers[0]->registered.size(), 0u);
}

}  // namespace
}  // namespace weft::transport::net
