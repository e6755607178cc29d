// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Small frames over a network that loses, doubles and delays datagrams: send() of this program stands in front of the
// system's.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "transport/tcp/datagram.hpp"
#include "transport_tcp.hpp"

namespace {

// The fault of one datagram in so many; 0: to none.
struct Weather {
  uint32_t lost = 0, doubled = 0, delayed = 0;
};
struct Delayed {
  int descriptor;
  std::vector<char> bytes;
};

class Network {
 public:
  void begin() {
    const std::lock_guard guard(lock_);
    weather_ = {};
    delayed_.clear();
    dice_.seed(1);
  }
  void set(Weather weather) {
    const std::lock_guard guard(lock_);
    weather_ = weather;
    sent_ = 0;
  }
  uint32_t sent() {  // datagrams, since set()
    const std::lock_guard guard(lock_);
    return sent_;
  }
  ssize_t send(int descriptor, const void* bytes, size_t size, int flags) {
    const std::lock_guard guard(lock_);
    ++sent_;
    if (one_in(weather_.lost)) return static_cast<ssize_t>(size);
    if (one_in(weather_.delayed)) {
      const char* const from = static_cast<const char*>(bytes);
      delayed_.push_back({descriptor, {from, from + size}});
      return static_cast<ssize_t>(size);
    }
    if (one_in(weather_.doubled)) (void)send_now(descriptor, bytes, size, flags);
    return send_now(descriptor, bytes, size, flags);
  }
  static ssize_t send_now(int descriptor, const void* bytes, size_t size, int flags) {
    return syscall(SYS_sendto, descriptor, bytes, size, flags, nullptr, 0);
  }
  void let_go(size_t most) {
    const std::lock_guard guard(lock_);
    for (; !delayed_.empty() && most != 0; --most) {
      const size_t which = dice_() % delayed_.size();
      const Delayed one = delayed_[which];
      delayed_.erase(delayed_.begin() + static_cast<std::ptrdiff_t>(which));
      (void)send_now(one.descriptor, one.bytes.data(), one.bytes.size(), MSG_DONTWAIT);
    }
  }

 private:
  bool one_in(uint32_t count) { return count != 0 && dice_() % count == 0; }

  std::mutex lock_;  // carriers have a thread of their own
  Weather weather_;
  std::minstd_rand dice_;
  uint32_t sent_ = 0;
  std::vector<Delayed> delayed_;
};
Network network;

}  // namespace

extern "C" ssize_t send(int descriptor, const void* bytes, size_t size, int flags) {
  int type = 0;
  socklen_t length = sizeof type;
  (void)getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length);
  return type == SOCK_DGRAM ? network.send(descriptor, bytes, size, flags)
                            : Network::send_now(descriptor, bytes, size, flags);
}

namespace weft::transport::tcp {
namespace {

constexpr uint64_t ms = 1'000'000;

class OverANetwork : public ::testing::Test {
 protected:
  void SetUp() override {
    network.begin();
    to_b = a.knows(b);
    to_a = b.knows(a);
  }
  void TearDown() override {
    network.begin();
    EXPECT_EQ(a.error + b.error, 0);
  }
  void poll() {
    network.let_go(1);
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
      ASSERT_TRUE(poll_until([&] { return a.send(to_b, i) == 0; }));
      ASSERT_TRUE(poll_until([&] { return b.numbers.size() == i + 1; })) << "question " << i;
      ASSERT_TRUE(poll_until([&] { return b.send(to_a, i + 1000) == 0; }));
      ASSERT_TRUE(poll_until([&] { return a.numbers.size() == i + 1; })) << "answer " << i;
      EXPECT_EQ(b.numbers.back(), i);
      EXPECT_EQ(a.numbers.back(), i + 1000);
    }
  }
  // Until datagrams go both ways.
  void begin() {
    ASSERT_NO_FATAL_FAILURE(exchange(40));
    network.set({});
    ASSERT_NO_FATAL_FAILURE(exchange(1));
    ASSERT_GE(network.sent(), 2u);
    b.numbers.clear();
  }
  void let_all_leave() {
    ASSERT_TRUE(poll_until([&] { return a.carrier.all_sent() && b.carrier.all_sent(); }));
  }

  static constexpr ConnectTimes no_pause = {.pause = 0};
  Rank a{0, 1, secret, false, no_pause}, b{1, 1, secret, false, no_pause};
  net::Address to_b = 0, to_a = 0;
};

TEST_F(OverANetwork, QuestionsAndAnswersGoAsDatagrams) {
  ASSERT_NO_FATAL_FAILURE(begin());
  network.set({});
  exchange(200);
  EXPECT_GE(network.sent(), 380u);
  let_all_leave();
}

// Both send at the same time, again and again: the next frame acknowledges the last one.
TEST_F(OverANetwork, FramesThatCrossGoAsDatagrams) {
  ASSERT_NO_FATAL_FAILURE(begin());
  network.set({});
  a.numbers.clear();
  for (uint32_t i = 0; i < 200; ++i) {
    ASSERT_EQ(a.send(to_b, i), 0);
    ASSERT_EQ(b.send(to_a, i), 0);
    ASSERT_TRUE(poll_until([&] { return a.numbers.size() == i + 1 && b.numbers.size() == i + 1; }));
  }
  EXPECT_GE(network.sent(), 380u);
}

// Datagrams in flight without an answer are bounded; the rest goes over the connection.
TEST_F(OverANetwork, AStreamGoesAsDatagramsAsFarAsTheWindowLetsIt) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_NO_FATAL_FAILURE(let_all_leave());
  network.set({});
  for (uint32_t i = 0; i < 200; ++i) ASSERT_TRUE(poll_until([&] { return a.send(to_b, i) == 0; }));
  ASSERT_TRUE(poll_until([&] { return b.numbers.size() == 200; }));
  EXPECT_GE(network.sent(), Datagrams::window);
  std::sort(b.numbers.begin(), b.numbers.end());
  for (uint32_t i = 0; i < 200; ++i) EXPECT_EQ(b.numbers[i], i);
}

TEST_F(OverANetwork, NothingIsLostOrDoubledWhateverTheWeather) {
  ASSERT_NO_FATAL_FAILURE(begin());
  for (const Weather kind : {Weather{.lost = 50}, Weather{.doubled = 2}, Weather{.delayed = 3},
                             Weather{.lost = 30, .doubled = 5, .delayed = 5}}) {
    network.set(kind);
    ASSERT_NO_FATAL_FAILURE(exchange(200));
    EXPECT_GT(network.sent(), 300u);
    for (int i = 0; i < 50; ++i) poll();  // what is late comes
    EXPECT_EQ(a.numbers.size() + b.numbers.size(), 400u);
  }
  let_all_leave();
}

// Both ways, without waiting for each other: each frame comes once, in any order.
TEST_F(OverANetwork, MixesWithTheConnection) {
  ASSERT_NO_FATAL_FAILURE(begin());
  network.set({.lost = 40, .doubled = 10, .delayed = 4});
  a.numbers.clear();
  constexpr uint32_t count = 2000;
  std::minstd_rand dice;
  for (uint32_t i = 0; i < count; ++i) {
    ASSERT_TRUE(poll_until([&] { return a.send(to_b, i) == 0; }));
    ASSERT_TRUE(poll_until([&] { return b.send(to_a, i) == 0; }));
    if (dice() % 2 == 0) poll();
  }
  ASSERT_TRUE(poll_until([&] { return a.numbers.size() == count && b.numbers.size() == count; }));
  ASSERT_NO_FATAL_FAILURE(let_all_leave());
  network.let_go(SIZE_MAX);
  for (int i = 0; i < 50; ++i) poll();
  for (Rank* rank : {&a, &b}) {
    EXPECT_EQ(rank->numbers.size(), count);
    std::sort(rank->numbers.begin(), rank->numbers.end());
    for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(rank->numbers[i], i);
  }
}

// Pushed data are believed in their turn alone.
TEST_F(OverANetwork, WhatWasLostComesBeforeWhatIsPushedLater) {
  ASSERT_NO_FATAL_FAILURE(begin());
  b.takes_pushed = true;
  network.set({.lost = 1});
  ASSERT_EQ(a.send(to_b, 7), 0);
  EXPECT_GE(network.sent(), 1u);
  net::Buffer* buffer = a.free.back();
  const net::Header header = {.magic = net::pushed_magic, .bytes = 16};
  std::memcpy(buffer->bytes, &header, sizeof header);
  ASSERT_EQ(a.carrier.push(buffer, "sixteen bytes...", 16, to_b), net::Carrier::gone);
  ASSERT_TRUE(poll_until([&] { return b.pushed == 1; }));
  EXPECT_EQ(b.numbers, std::vector<uint32_t>{7});
}

// A network that takes no datagrams at all: there is a word each way that nobody hears.
TEST_F(OverANetwork, WhereDatagramsDoNotComeThroughTheConnectionIsUsed) {
  network.set({.lost = 1});
  exchange(500);
  EXPECT_GE(network.sent(), 1u);
  EXPECT_LE(network.sent(), 2u);
}

// One that takes them no longer: after a few they are left alone for a while.
TEST_F(OverANetwork, WhereDatagramsCeaseToComeThroughTheConnectionIsUsed) {
  Rank c(0, 1, secret, false), d(1, 1, secret, false);
  const net::Address to_d = c.knows(d), to_c = d.knows(c);
  for (uint32_t i = 0; i < 2000; ++i) {
    if (i == 100) {
      EXPECT_GE(network.sent(), 100u);
      network.set({.lost = 1});
    }
    ASSERT_EQ(c.send(to_d, i), 0);
    ASSERT_TRUE(wait({&c, &d}, [&] { return d.numbers.size() == i + 1; }));
    ASSERT_EQ(d.send(to_c, i), 0);
    ASSERT_TRUE(wait({&c, &d}, [&] { return c.numbers.size() == i + 1; }));
  }
  EXPECT_GE(network.sent(), 1u);
  EXPECT_LE(network.sent(), 40u);
}

// A lost datagram goes over the connection also while the sender computes.
TEST_F(OverANetwork, ALostOneComesWhileItsSenderComputes) {
  ASSERT_NO_FATAL_FAILURE(begin());
  network.set({.lost = 1});
  ASSERT_EQ(a.send(to_b, 7), 0);
  EXPECT_GE(network.sent(), 1u);
  ASSERT_TRUE(wait({&b}, [&] { return !b.numbers.empty(); }));
  EXPECT_EQ(b.numbers, std::vector<uint32_t>{7});
  EXPECT_TRUE(a.carrier.all_sent());
}

// Datagrams that a computing peer does not acknowledge go over the connection, and when it looks again it takes each
// once.
TEST_F(OverANetwork, APeerThatComputesTakesThemOnceLater) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_EQ(a.send(to_b, 7), 0);
  ASSERT_TRUE(wait({}, [&] { return a.carrier.all_sent(); }));
  ASSERT_TRUE(poll_until([&] { return !b.numbers.empty(); }));
  for (int i = 0; i < 50; ++i) poll();
  EXPECT_EQ(b.numbers, std::vector<uint32_t>{7});
}

const Keys ours{{{11, 12}}, {{21, 22}}}, theirs{ours.theirs, ours.ours};
using Taken = Datagrams::Taken;

Datagram head_of(std::span<const unsigned char> bytes) {
  Datagram head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head;
}

Taken take(Datagrams& by, const Datagram& head, bool on_connection = false) {
  return by.take(head, sizeof head + head.bytes, on_connection);
}

std::string frame_of(size_t bytes, char fill) {
  std::string frame(bytes, fill);
  const net::Header header = {.bytes = static_cast<uint32_t>(bytes - sizeof header)};
  std::memcpy(frame.data(), &header, sizeof header);
  return frame;
}

class TwoSides : public ::testing::Test {
 protected:
  void SetUp() override {
    (void)take(one, other.acknowledgement());
    (void)take(other, one.acknowledgement());
  }
  Datagram keep() { return head_of(one.keep(&frame)); }

  const net::Header frame = {};
  Datagrams one{ours, 100 * ms}, other{theirs, 100 * ms};
};

TEST_F(TwoSides, KeepAFewUntilTheyAreAcknowledged) {
  const std::string largest = frame_of(Datagrams::most, 'x');
  for (uint32_t round = 0; round < 1000; ++round) {
    std::array<Datagram, Datagrams::window> heads;
    for (Datagram& head : heads) {
      ASSERT_TRUE(one.ready());
      const auto bytes = one.keep(largest.data());
      ASSERT_EQ(bytes.size(), sizeof(Datagram) + largest.size());
      head = head_of(bytes);
    }
    ASSERT_FALSE(one.ready());
    for (const Datagram& head : heads) {
      ASSERT_EQ(take(other, head), Taken::frame);
      ASSERT_EQ(take(other, head), Taken::known) << "it was here";
    }
    ASSERT_TRUE(other.waits());
    ASSERT_EQ(take(one, other.acknowledgement()), Taken::known);
    ASSERT_FALSE(one.waits());
    ASSERT_FALSE(other.waits());
  }
}

// Frames of any length, acknowledged now and then: the frames taken back are those sent since, with their numbers.
TEST_F(TwoSides, GiveBackWhatIsNotAcknowledged) {
  std::minstd_rand dice;
  uint32_t number = 0;
  std::deque<std::string> kept;
  std::vector<Datagram> heads;  // of all
  size_t acknowledged = 0;      // of them
  for (int step = 0; step < 20000; ++step) {
    if (dice() % 500 == 0) {
      std::string wanted;
      for (const std::string& one_kept : kept) wanted += one_kept + std::string(-one_kept.size() % 16, '\0');
      const auto copies = one.take_back();
      ASSERT_EQ(std::string(copies.begin(), copies.end()), wanted);
      ASSERT_FALSE(one.keeps());
      for (; acknowledged != heads.size(); ++acknowledged) {
        ASSERT_EQ(take(other, heads[acknowledged], true), Taken::frame);
      }
      kept.clear();
    } else if (one.ready() && dice() % 3 != 0) {
      const std::string sent =
          frame_of(sizeof(net::Header) + dice() % (Datagrams::most - sizeof(net::Header) + 1), static_cast<char>(step));
      const auto bytes = one.keep(sent.data());
      ASSERT_EQ(head_of(bytes).number, number++);
      heads.push_back(head_of(bytes));
      kept.emplace_back(bytes.begin(), bytes.end());
      ASSERT_EQ(kept.back().substr(sizeof(Datagram)), sent);
    } else if (!kept.empty()) {
      const size_t count = 1 + dice() % kept.size();
      kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(take(other, heads[acknowledged + i]), Taken::frame);
      acknowledged += count;
      (void)take(one, other.acknowledgement());
      ASSERT_EQ(one.keeps(), !kept.empty());
    }
  }
  EXPECT_GT(number, 5000u);
}

// A datagram behind a lost one is not taken: both go over the connection.
TEST_F(TwoSides, GoBackToTheFirstThatWasLost) {
  (void)keep();
  EXPECT_EQ(take(other, keep()), Taken::known);
  const auto copies = one.take_back();
  constexpr size_t each = on_the_wire(sizeof(Datagram) + sizeof frame);
  ASSERT_EQ(copies.size(), 2 * each);
  EXPECT_FALSE(one.keeps());
  EXPECT_EQ(take(other, head_of({copies.data(), each}), true), Taken::frame);
  EXPECT_EQ(take(other, head_of({copies.data() + each, each}), true), Taken::frame);
  EXPECT_FALSE(other.waits()) << "they came over the connection";
}

TEST_F(TwoSides, AreLateAndOweFromTheSecondLookOn) {
  const Datagram first = keep();
  EXPECT_FALSE(one.look().late);
  EXPECT_TRUE(one.look().late);
  EXPECT_TRUE(one.look().late);
  EXPECT_EQ(take(other, first), Taken::frame);
  EXPECT_FALSE(other.look().owed);
  EXPECT_TRUE(other.look().owed);
  (void)keep();  // while the first is on its way
  EXPECT_TRUE(one.look().late);
  (void)take(one, other.acknowledgement());
  EXPECT_FALSE(other.look().owed);
  EXPECT_FALSE(one.look().late) << "the second is younger";
  EXPECT_TRUE(one.look().late);
}

// Twice as long, up to a thousand times; after an acknowledgement it begins again.
TEST(Datagrams, WaitLongerAfterEachFailure) {
  constexpr uint64_t first = 10'000 * ms;
  Datagrams long_ago(ours, first), just_now(ours, first), other(theirs, first);
  (void)take(long_ago, other.acknowledgement());
  (void)take(just_now, other.acknowledgement());
  const auto pause = [&](uint64_t length) {
    const uint64_t now = base::now_ns();
    long_ago.pause(now - length);
    EXPECT_TRUE(long_ago.ready()) << length;
    just_now.pause(now - length / 2);
    EXPECT_FALSE(just_now.ready()) << length;
  };
  for (uint32_t failures = 0; failures < 20; ++failures) pause(first << std::min(failures, 10u));
  const net::Header frame = {};
  EXPECT_EQ(take(other, head_of(long_ago.keep(&frame))), Taken::frame);
  (void)just_now.keep(&frame);
  const Datagram said = other.acknowledgement();
  (void)take(long_ago, said);
  (void)take(just_now, said);
  pause(first);
}

TEST(Datagrams, WaitUntilOneHasComeIn) {
  Datagrams one(ours, 0), other(theirs, 0);
  EXPECT_FALSE(one.ready());
  (void)take(one, other.acknowledgement(), true);
  EXPECT_FALSE(one.ready());
  (void)take(one, other.acknowledgement());
  EXPECT_TRUE(one.ready());
}

// An acknowledgement stays due until it is sent, even if frames come over the connection meanwhile.
TEST_F(TwoSides, OweUntilTheyHaveSaidSo) {
  EXPECT_EQ(take(other, keep()), Taken::frame);
  EXPECT_EQ(take(other, keep(), true), Taken::frame);
  EXPECT_TRUE(other.waits());
  EXPECT_EQ(other.acknowledgement().taken, 2u);
  EXPECT_FALSE(other.waits());
}

// A datagram of a process without the secret, a changed one, one of the own ones that comes back, and an old one that
// is sent again: none of them moves anything.
TEST_F(TwoSides, BelieveNothingWithoutAProof) {
  const Datagram good = keep();
  for (size_t at = 0; at < sizeof good; ++at) {
    Datagram bad = good;
    reinterpret_cast<unsigned char*>(&bad)[at] ^= 1;
    EXPECT_EQ(other.take(bad, sizeof bad + sizeof frame, false), Taken::nothing) << at;
  }
  EXPECT_EQ(other.take(good, sizeof good, false), Taken::nothing) << "without its frame";
  EXPECT_EQ(take(one, good), Taken::nothing) << "of the other direction";
  EXPECT_FALSE(other.waits());
  EXPECT_TRUE(one.keeps());
  EXPECT_EQ(take(other, good), Taken::frame);
  const Datagram early = other.acknowledgement();
  EXPECT_EQ(take(one, early), Taken::known);
  const Datagram second = keep();
  EXPECT_EQ(take(one, early), Taken::known) << "said again";
  EXPECT_TRUE(one.keeps()) << "of the second nothing was said";
  EXPECT_EQ(take(other, good), Taken::known);
  EXPECT_EQ(take(other, second), Taken::frame);
}

TEST_F(TwoSides, BelieveNoAcknowledgementOfWhatWasNotSent) {
  Datagrams twin{ours, 100 * ms};
  for (int i = 0; i < 2; ++i) ASSERT_EQ(take(other, head_of(twin.keep(&frame))), Taken::frame);
  (void)keep();
  EXPECT_EQ(take(one, other.acknowledgement()), Taken::known) << "of two";
  EXPECT_TRUE(one.keeps());
}

}  // namespace
}  // namespace weft::transport::tcp
