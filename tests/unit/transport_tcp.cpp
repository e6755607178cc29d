// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What the carrier over TCP does with addresses, crossing connections and strangers; what all carriers promise is in
// transport_carriers.cpp.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transport/net/socket.hpp"
#include "transport/tcp/carrier.hpp"

namespace weft::transport::tcp {
namespace {

using Clock = std::chrono::steady_clock;
constexpr const char* secret = "0123456789abcdef0123456789abcdef";
constexpr size_t who_bytes = 8;  // rank and lane, in front of the place in what a rank publishes

// A rank that keeps the numbers of the frames that it gets.
struct Rank final : net::Events {
  TcpCarrier carrier;
  std::unique_ptr<net::Buffer[]> buffers = std::make_unique<net::Buffer[]>(4);
  std::vector<net::Buffer*> free{&buffers[0], &buffers[1], &buffers[2], &buffers[3]};
  std::vector<uint32_t> numbers;
  int error = 0;

  explicit Rank(int rank, uint32_t lanes = 1, const char* known = secret) : carrier(lanes, rank, 3, known) {}

  void came(uint32_t, const unsigned char* frame, size_t) override {
    net::Header header;
    std::memcpy(&header, frame, sizeof header);
    numbers.push_back(header.origin);
  }
  void sent(uint32_t, net::Buffer* buffer, int failed) override {
    if (failed != 0) error = failed;
    free.push_back(buffer);
  }
  int send(net::Address to, uint32_t number) {
    if (free.empty()) return EAGAIN;
    net::Buffer* buffer = free.back();
    net::Header header = {};
    header.origin = number;
    std::memcpy(buffer->bytes, &header, sizeof header);
    const int result = carrier.send(0, buffer, buffer->bytes, sizeof header, to);
    if (result == 0) free.pop_back();
    return result == net::Carrier::gone ? 0 : result;
  }
  net::Address knows(Rank& other, uint32_t lane = 0) {
    net::Address address = 0;
    EXPECT_TRUE(carrier.insert(other.carrier.address(lane), address));
    return address;
  }
  void poll(uint32_t lanes = 1) {
    for (uint32_t lane = 0; lane < lanes; ++lane) (void)carrier.poll(lane, *this);
  }
  uint16_t port() {
    net::Place place;
    EXPECT_TRUE(place.parse(std::string_view(carrier.address(0)).substr(who_bytes)));
    return place.port;
  }
};

template <class Condition>
[[nodiscard]] bool wait(std::initializer_list<Rank*> ranks, Condition condition, int seconds = 10) {
  const auto until = Clock::now() + std::chrono::seconds(seconds);
  while (!condition()) {
    for (Rank* rank : ranks) rank->poll();
    if (Clock::now() > until) return false;
  }
  return true;
}

// A connection by somebody else; what it says.
int call(uint16_t port, const void* bytes, size_t size) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.sin_port = htons(port);
  EXPECT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&place), sizeof place), 0) << strerror(errno);
  if (size != 0) {
    EXPECT_EQ(send(descriptor, bytes, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
  }
  return descriptor;
}
bool is_closed(int descriptor) {
  char byte;
  const ssize_t bytes = recv(descriptor, &byte, 1, MSG_DONTWAIT);
  return bytes == 0 || (bytes < 0 && errno != EAGAIN);
}

TEST(Tcp, TriesAddressesInTurn) {
  Rank a(0), b(1);
  std::string published = b.carrier.address(0);
  in_addr nowhere;
  ASSERT_EQ(inet_pton(AF_INET, "240.0.0.1", &nowhere), 1);
  published.insert(who_bytes + sizeof(uint16_t), reinterpret_cast<const char*>(&nowhere), sizeof nowhere);
  net::Address to = 0;
  ASSERT_TRUE(a.carrier.insert(published, to));
  ASSERT_EQ(a.send(to, 7), 0);
  EXPECT_TRUE(wait({&a, &b}, [&] { return b.numbers.size() == 1; }));
}

TEST(Tcp, RefusesBytesThatAreNoAddress) {
  Rank a(0), b(1);
  const std::string good = b.carrier.address(0);
  net::Address to = 0;
  for (size_t bytes = 0; bytes < who_bytes + 6; ++bytes) EXPECT_FALSE(a.carrier.insert(good.substr(0, bytes), to));
  EXPECT_FALSE(a.carrier.insert(good + "x", to));
  EXPECT_FALSE(a.carrier.insert(std::string(good).replace(0, 4, "\xff\xff\xff\xff"), to)) << "rank 4294967295 of 3";
}

// Both connect before either has looked at the other: one connection remains, and nothing is lost or doubled.
TEST(Tcp, CrossingConnectionsBecomeOne) {
  for (int round = 0; round < 20; ++round) {
    Rank a(0), b(1);
    const net::Address to_b = a.knows(b), to_a = b.knows(a);
    ASSERT_EQ(a.send(to_b, 1), 0);
    ASSERT_EQ(b.send(to_a, 2), 0);
    Rank* first = round % 2 == 0 ? &a : &b;
    for (int i = 0; i < round / 2; ++i) first->poll();
    ASSERT_TRUE(wait({&a, &b}, [&] { return a.numbers.size() == 1 && b.numbers.size() == 1; }));
    for (uint32_t i = 10; i < 20; ++i) {
      ASSERT_TRUE(wait({&a, &b}, [&] { return a.send(to_b, i) == 0; }));
      ASSERT_TRUE(wait({&a, &b}, [&] { return b.send(to_a, i) == 0; }));
    }
    ASSERT_TRUE(wait({&a, &b}, [&] { return a.numbers.size() == 11 && b.numbers.size() == 11; }));
    EXPECT_EQ(a.numbers, (std::vector<uint32_t>{2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
    EXPECT_EQ(b.numbers, (std::vector<uint32_t>{1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
    EXPECT_EQ(a.error + b.error, 0);
  }
}

// Ranks need not have the same number of lanes.
TEST(Tcp, JoinsDifferentNumbersOfLanes) {
  Rank a(0), b(1, 4);
  for (uint32_t lane = 0; lane < 4; ++lane) {
    const net::Address to = a.knows(b, lane);
    ASSERT_TRUE(wait({&a}, [&] { return a.send(to, lane) == 0; }));
    b.numbers.clear();
    const auto until = Clock::now() + std::chrono::seconds(10);
    while (b.numbers.empty() && Clock::now() < until) {
      a.poll();
      if (lane != 0) (void)b.carrier.poll(0, b);  // connections come in on lane 0
      EXPECT_TRUE(lane == 0 || b.numbers.empty());
      (void)b.carrier.poll(lane, b);
    }
    EXPECT_EQ(b.numbers, std::vector<uint32_t>{lane});
  }
  const net::Address back = b.knows(a);
  ASSERT_EQ(b.send(back, 9), 0);
  EXPECT_TRUE(wait({&a}, [&] { return a.numbers == std::vector<uint32_t>{9}; }));
}

TEST(Tcp, TurnsStrangersAway) {
  Rank a(0), b(1), old(2, 1, "fedcba9876543210fedcba9876543210");
  const uint16_t port = b.port();
  const net::Proofs proofs(secret);
  const std::string noise(200, 'x');
  Greeting for_another = greeting(Word::hello, 0, 2, 0, proofs);
  Greeting of_another_version = greeting(Word::hello, 0, 1, 0, proofs);
  of_another_version.magic += 0x01000000;
  Greeting too_many_lanes = greeting(Word::hello, 0, 1, max_lanes, proofs);
  Greeting answer = greeting(Word::welcome, 0, 1, 0, proofs);
  const std::vector<int> callers = {
      call(port, noise.data(), noise.size()), call(port, &for_another, sizeof for_another),
      call(port, &of_another_version, sizeof of_another_version), call(port, &too_many_lanes, sizeof too_many_lanes),
      call(port, &answer, sizeof answer)};
  for (const int caller : callers) {
    EXPECT_TRUE(wait({&b}, [&] { return is_closed(caller); }));
    close(caller);
  }
  // A rank of an old job that has our port: it gets no welcome.
  const net::Address wrong = old.knows(b);
  ASSERT_EQ(old.send(wrong, 1), 0);
  EXPECT_FALSE(wait(
      {&old, &b}, [&] { return !b.numbers.empty(); }, 1));
  // And the job's own come through, also past many who say nothing.
  std::vector<int> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(call(port, "", 0));
  ASSERT_EQ(a.send(a.knows(b), 5), 0);
  EXPECT_TRUE(wait({&a, &b}, [&] { return b.numbers == std::vector<uint32_t>{5}; }));
  for (const int caller : silent) close(caller);
}

// Whoever has not heard the welcome gives up and comes again, and its end of the first connection may never be heard
// of.
TEST(Tcp, TakesAPeerThatComesAgain) {
  Rank a(0), b(1);
  ASSERT_EQ(b.send(b.knows(a), 3), 0);  // waits, for the first has not confirmed
  b.poll();
  const net::Proofs proofs(secret);
  Rank again(0);
  const Greeting hello = greeting(Word::hello, 0, 1, 0, proofs);
  const int first = call(b.port(), &hello, sizeof hello);
  Greeting answer = {};
  ASSERT_TRUE(wait({&b}, [&] { return recv(first, &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer; }));
  EXPECT_EQ(answer.word, static_cast<uint16_t>(Word::welcome));
  ASSERT_EQ(again.send(again.knows(b), 4), 0);
  EXPECT_TRUE(wait({&again, &b}, [&] { return b.numbers.size() == 1 && again.numbers.size() == 1; }));
  EXPECT_EQ(b.numbers, std::vector<uint32_t>{4});
  EXPECT_EQ(again.numbers, std::vector<uint32_t>{3}) << "not sent into the connection that was given up";
  close(first);
}

// Whoever knows the secret and sends what no frame can be: the connection ends, and nothing of it is told.
TEST(Tcp, EndsAConnectionThatCannotBeUnderstood) {
  Rank b(1);
  const Greeting hello = greeting(Word::hello, 0, 1, 0, net::Proofs(secret));
  const int caller = call(b.port(), &hello, sizeof hello);
  Greeting answer = {};
  ASSERT_TRUE(wait({&b}, [&] { return recv(caller, &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer; }));
  EXPECT_EQ(answer.word, static_cast<uint16_t>(Word::welcome));
  const Greeting confirmed = greeting(Word::confirmed, 0, 1, 0, net::Proofs(secret));
  ASSERT_EQ(send(caller, &confirmed, sizeof confirmed, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof confirmed));
  const std::string noise(4096, '\xff');
  ASSERT_EQ(send(caller, noise.data(), noise.size(), MSG_NOSIGNAL), static_cast<ssize_t>(noise.size()));
  net::Address back = 0;
  Rank a(0);
  ASSERT_TRUE(b.carrier.insert(a.carrier.address(0), back));
  EXPECT_TRUE(wait({&b}, [&] { return b.send(back, 1) == EPROTO; }));
  EXPECT_TRUE(b.numbers.empty());
  close(caller);
}

}  // namespace
}  // namespace weft::transport::tcp
