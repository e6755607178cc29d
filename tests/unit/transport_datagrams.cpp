// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Frames whose senders look for an answer, over a network that loses, doubles and delays datagrams: send() of this
// program stands in front of the system's.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "transport/tcp/datagram.hpp"
#include "transport_tcp.hpp"

namespace {

// What happens to one datagram in so many; 0: to none.
struct Weather {
  uint32_t lost = 0, doubled = 0, delayed = 0;
};
Weather weather;
std::minstd_rand dice;
uint32_t datagrams;  // that were sent
struct Delayed {
  int descriptor;
  std::vector<char> bytes;
};
std::vector<Delayed> delayed;

ssize_t send_now(int descriptor, const void* bytes, size_t size, int flags) {
  return syscall(SYS_sendto, descriptor, bytes, size, flags, nullptr, 0);
}

bool one_in(uint32_t count) {
  return count != 0 && dice() % count == 0;
}

void let_go(size_t most) {
  for (; !delayed.empty() && most != 0; --most) {
    const size_t which = dice() % delayed.size();
    const Delayed one = delayed[which];
    delayed.erase(delayed.begin() + static_cast<std::ptrdiff_t>(which));
    (void)send_now(one.descriptor, one.bytes.data(), one.bytes.size(), MSG_DONTWAIT);
  }
}

}  // namespace

extern "C" ssize_t send(int descriptor, const void* bytes, size_t size, int flags) {
  int type = 0;
  socklen_t length = sizeof type;
  (void)getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length);
  if (type != SOCK_DGRAM) return send_now(descriptor, bytes, size, flags);
  ++datagrams;
  if (one_in(weather.lost)) return static_cast<ssize_t>(size);
  if (one_in(weather.delayed)) {
    const char* const from = static_cast<const char*>(bytes);
    delayed.push_back({descriptor, {from, from + size}});
    return static_cast<ssize_t>(size);
  }
  if (one_in(weather.doubled)) (void)send_now(descriptor, bytes, size, flags);
  return send_now(descriptor, bytes, size, flags);
}

namespace weft::transport::tcp {
namespace {

constexpr uint64_t ms = 1'000'000;

class Prompt : public ::testing::Test {
 protected:
  void SetUp() override {
    weather = {};
    datagrams = 0;
    delayed.clear();
    dice.seed(1);
    to_b = a.knows(b);
    to_a = b.knows(a);
  }
  void TearDown() override {
    delayed.clear();
    EXPECT_EQ(a.error + b.error, 0);
  }
  void poll() {
    let_go(1);
    a.poll();
    b.poll();
  }
  template <class Condition>
  [[nodiscard]] bool poll_until(Condition condition) {
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      poll();
      if (Clock::now() > until) return false;
    }
    return true;
  }
  // One asks and the other answers, so many times: each frame comes once.
  void exchange(uint32_t count) {
    a.numbers.clear();
    b.numbers.clear();
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(poll_until([&] { return a.send(to_b, i, true) == 0; }));
      ASSERT_TRUE(poll_until([&] { return b.numbers.size() == i + 1; })) << "question " << i;
      ASSERT_TRUE(poll_until([&] { return b.send(to_a, i + 1000, true) == 0; }));
      ASSERT_TRUE(poll_until([&] { return a.numbers.size() == i + 1; })) << "answer " << i;
      EXPECT_EQ(b.numbers.back(), i);
      EXPECT_EQ(a.numbers.back(), i + 1000);
    }
  }
  void let_all_leave() {
    ASSERT_TRUE(poll_until([&] { return a.carrier.all_sent() && b.carrier.all_sent(); }));
  }

  static constexpr Patience no_pause = {.pause = 0};
  Rank a{0, 1, secret, false, no_pause}, b{1, 1, secret, false, no_pause};
  net::Address to_b = 0, to_a = 0;
};

TEST_F(Prompt, QuestionsAndAnswersGoAsDatagrams) {
  exchange(3);  // the connection, and who receives them where
  datagrams = 0;
  exchange(200);
  EXPECT_EQ(datagrams, 400u);
  ASSERT_NO_FATAL_FAILURE(let_all_leave());
  EXPECT_LE(datagrams, 402u) << "the last ones are acknowledged";
}

TEST_F(Prompt, NothingIsLostOrDoubledWhateverTheWeather) {
  exchange(3);
  for (const Weather kind : {Weather{.lost = 50}, Weather{.doubled = 2}, Weather{.delayed = 3},
                             Weather{.lost = 30, .doubled = 5, .delayed = 5}}) {
    weather = kind;
    datagrams = 0;
    ASSERT_NO_FATAL_FAILURE(exchange(200));
    EXPECT_GT(datagrams, 300u);
    for (int i = 0; i < 50; ++i) poll();  // what is late comes
    EXPECT_EQ(a.numbers.size() + b.numbers.size(), 400u);
  }
  ASSERT_NO_FATAL_FAILURE(let_all_leave());
}

// Frames of both kinds, both ways, without waiting for each other: each comes once, in any order.
TEST_F(Prompt, MixWithOthers) {
  exchange(3);
  weather = {.lost = 40, .doubled = 10, .delayed = 4};
  a.numbers.clear();
  b.numbers.clear();
  constexpr uint32_t count = 2000;
  for (uint32_t i = 0; i < count; ++i) {
    ASSERT_TRUE(poll_until([&] { return a.send(to_b, i, dice() % 2 == 0) == 0; }));
    ASSERT_TRUE(poll_until([&] { return b.send(to_a, i, dice() % 2 == 0) == 0; }));
    if (dice() % 2 == 0) poll();
  }
  ASSERT_TRUE(poll_until([&] { return a.numbers.size() == count && b.numbers.size() == count; }));
  ASSERT_NO_FATAL_FAILURE(let_all_leave());
  let_go(delayed.size());
  for (int i = 0; i < 50; ++i) poll();
  for (Rank* rank : {&a, &b}) {
    EXPECT_EQ(rank->numbers.size(), count);
    std::sort(rank->numbers.begin(), rank->numbers.end());
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(rank->numbers[i], i);
  }
}

// Pushed data are believed in their turn alone.
TEST_F(Prompt, WhatWasLostComesBeforeWhatIsPushedLater) {
  exchange(3);
  b.takes_pushed = true;
  b.numbers.clear();
  weather = {.lost = 1};
  ASSERT_EQ(a.send(to_b, 7, true), 0);
  EXPECT_TRUE(a.carrier.all_sent() == false);
  net::Buffer* buffer = a.free.back();
  const net::Header header = {.magic = net::pushed_magic, .bytes = 16};
  std::memcpy(buffer->bytes, &header, sizeof header);
  ASSERT_EQ(a.carrier.push(buffer, "sixteen bytes...", 16, to_b), net::Carrier::gone);
  ASSERT_TRUE(poll_until([&] { return b.pushed == 1; }));
  EXPECT_EQ(b.numbers, std::vector<uint32_t>{7});
}

// A network that takes no datagrams at all: after a few they are left alone for a while.
TEST_F(Prompt, WhereDatagramsDoNotComeThroughTheConnectionIsUsed) {
  weather = {.lost = 1};
  Rank c(0, 1, secret, false), d(1, 1, secret, false);
  const net::Address to_d = c.knows(d);
  for (uint32_t i = 0; i < 2000; ++i) {
    ASSERT_EQ(c.send(to_d, i, true), 0);
    ASSERT_TRUE(wait({&c, &d}, [&] { return d.numbers.size() == i + 1; }));
  }
  EXPECT_GE(datagrams, 1u);
  EXPECT_LE(datagrams, 20u);
}

// What a peer that computes does not acknowledge goes over the connection, and when it looks again it takes it once.
TEST_F(Prompt, APeerThatComputesTakesThemOnceLater) {
  exchange(3);
  b.numbers.clear();
  ASSERT_EQ(a.send(to_b, 7, true), 0);
  const auto until = Clock::now() + std::chrono::milliseconds(20);
  while (Clock::now() < until) a.poll();
  EXPECT_TRUE(a.carrier.all_sent());
  ASSERT_TRUE(poll_until([&] { return !b.numbers.empty(); }));
  for (int i = 0; i < 50; ++i) poll();
  EXPECT_EQ(b.numbers, std::vector<uint32_t>{7});
}

constexpr uint64_t ours = 11, theirs = 22;

TEST(Datagrams, KeepOneUntilItIsAcknowledged) {
  Datagrams one(ours, theirs, 100 * ms), other(theirs, ours, 100 * ms);
  const std::array<unsigned char, Datagrams::most> frame{};
  for (uint32_t round = 0; round < 1000; ++round) {
    ASSERT_TRUE(one.ready(0));
    const auto bytes = one.keep(frame.data(), frame.size(), 0);
    ASSERT_EQ(bytes.size(), sizeof(Datagram) + frame.size());
    ASSERT_FALSE(one.ready(0));
    const auto head = *reinterpret_cast<const Datagram*>(bytes.data());
    ASSERT_TRUE(other.take(head, true, false, 0));
    ASSERT_TRUE(other.owes());
    ASSERT_FALSE(other.take(head, true, false, 0)) << "it was here";
    ASSERT_FALSE(one.take(other.acknowledgement(), false, false, 0));
    ASSERT_FALSE(other.owes());
  }
}

TEST(Datagrams, WaitLongerAfterEachFailure) {
  Datagrams one(ours, theirs, 100 * ms), other(theirs, ours, 100 * ms);
  const net::Header frame = {};
  uint64_t now = 1, before = 0;
  for (int round = 0; round < 20; ++round) {
    (void)one.keep(&frame, sizeof frame, now);
    EXPECT_FALSE(one.late(now + Datagrams::late_ns));
    now += Datagrams::late_ns + 1;
    ASSERT_TRUE(one.late(now));
    one.pause(now);
    size_t bytes = 0;
    const auto copy = one.repeat(bytes);
    EXPECT_EQ(bytes, on_the_wire(sizeof(Datagram) + sizeof frame));
    EXPECT_TRUE(other.take(*reinterpret_cast<const Datagram*>(copy.get()), true, true, now));
    EXPECT_FALSE(other.owes()) << "it came over the connection";
    uint64_t pause = ms;
    while (!one.ready(now + pause)) pause += ms;
    EXPECT_TRUE(pause >= before && pause <= 200'000 * ms);
    before = pause;
    now += pause;
  }
  EXPECT_GT(before, 10'000 * ms);
  (void)one.keep(&frame, sizeof frame, now);
  (void)other.take({datagram_magic, 20, 0, 0, ours}, true, false, now);
  (void)one.take(other.acknowledgement(), false, false, now);
  EXPECT_TRUE(one.ready(now));
  (void)one.keep(&frame, sizeof frame, now);
  one.pause(now);
  EXPECT_FALSE(one.ready(now + ms));
}

// What is owed for a datagram is owed until it is said, whatever comes over the connection meanwhile.
TEST(Datagrams, OweUntilTheyHaveSaidSo) {
  Datagrams one(ours, theirs, 100 * ms);
  EXPECT_TRUE(one.take({datagram_magic, 0, 0, 0, theirs}, true, false, 0));
  EXPECT_TRUE(one.take({datagram_magic, 1, 0, 0, theirs}, true, true, 0));
  EXPECT_TRUE(one.owes());
  EXPECT_EQ(one.acknowledgement().taken, 2u);
  EXPECT_FALSE(one.owes());
}

// Whoever cannot prove that it knows the secret changes nothing.
TEST(Datagrams, BelieveNoStranger) {
  Datagrams one(ours, theirs, 100 * ms);
  const net::Header frame = {};
  (void)one.keep(&frame, sizeof frame, 0);
  EXPECT_FALSE(one.take({datagram_magic, 0, 1, 0, theirs + 1}, true, false, 0));
  EXPECT_FALSE(one.take({datagram_magic + 1, 0, 1, 0, theirs}, true, false, 0));
  EXPECT_TRUE(one.keeps());
  EXPECT_FALSE(one.owes());
  EXPECT_TRUE(one.take({datagram_magic, 0, 1, 0, theirs}, true, false, 0));
  EXPECT_FALSE(one.keeps());
}

}  // namespace
}  // namespace weft::transport::tcp
