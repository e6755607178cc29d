// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Ranks that talk over TCP inside one process, without the rest of the transport.

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "transport/tcp/carrier.hpp"

namespace weft::transport::tcp {

using Clock = std::chrono::steady_clock;
inline constexpr const char* secret = "0123456789abcdef0123456789abcdef";
inline constexpr size_t who_bytes = 8;  // rank and lane, in front of the place in what a rank publishes

// A rank that keeps the numbers of the frames that it gets.
struct Rank final : net::Events {
  TcpCarrier carrier;
  std::unique_ptr<net::OwnBuffer[]> buffers = std::make_unique<net::OwnBuffer[]>(4);
  std::vector<net::Buffer*> free{&buffers[0], &buffers[1], &buffers[2], &buffers[3]};
  std::vector<uint32_t> numbers;
  int error = 0;

  explicit Rank(int rank, uint32_t lanes = 1, const char* known = secret, bool threads = true,
                ConnectTimes patience = {})
      : carrier(lanes, rank, 3, known, threads, patience) {}

  Came came(uint32_t, const unsigned char* frame, size_t) override {
    net::Header header;
    std::memcpy(&header, frame, sizeof header);
    if (refuses) return Came::refused;
    numbers.push_back(header.origin);
    return Came::in_turn;
  }
  bool believes(uint32_t, const net::Header&) override { return !refuses; }
  void changed(uint32_t rank, const std::string& link) override { ended.push_back(std::to_string(rank) + ": " + link); }
  bool refuses = false;
  std::vector<std::string> ended;  // ways that were changed
  void sent(uint32_t, net::Buffer* buffer, int failed) override {
    if (failed != 0) error = failed;
    free.push_back(buffer);
  }
  void have_read(Read& read, int failed) override { read.over(read, failed); }
  int send(net::Address to, uint32_t number) {
    if (free.empty()) return EAGAIN;
    net::Buffer* buffer = free.back();
    net::Header header = {.magic = net::magic, .origin = number};
    std::memcpy(buffer->bytes, &header, sizeof header);
    const int result = carrier.send(0, buffer, buffer->bytes, sizeof header, to);
    if (result == 0) free.pop_back();
    return result == net::Carrier::gone ? 0 : result;
  }
  bool pushing(uint32_t, const net::Header&, PushDestination&) override {
    ++pushed;
    return takes_pushed;
  }
  bool takes_pushed = false;
  int pushed = 0;
  net::Address knows(Rank& other, uint32_t lane = 0) {
    net::Address address = 0;
    EXPECT_TRUE(carrier.insert(other.carrier.address(lane), address));
    return address;
  }
  void poll(uint32_t lanes = 1) {
    for (uint32_t lane = 0; lane < lanes; ++lane) (void)carrier.poll(lane, *this);
  }
  net::ListenAddresses place() {
    net::ListenAddresses place;
    EXPECT_TRUE(place.parse(std::string_view(carrier.address(0)).substr(who_bytes)));
    return place;
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

}  // namespace weft::transport::tcp
