// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Threads that send to different lanes of one rank of another host: none waits for another.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "transport/net/transport.hpp"

namespace weft::transport::net {
namespace {

std::atomic<bool> entered = false;
std::atomic<bool> goes_on = false;

// A carrier that keeps the sender on lane 0 until it is told to go on.
class Holding final : public Carrier {
 public:
  const char* name() const override { return "holding"; }
  std::string address(uint32_t) override { return "x"; }
  bool insert(std::string_view /*bytes*/, Address& address) override {
    address = 0;
    return true;
  }
  int send(uint32_t lane, Buffer*, const void*, size_t, Address) override { return take(lane); }
  bool pushes() const override { return true; }
  int push(Buffer* buffer, const void*, size_t, Address) override {
    Header header;
    std::memcpy(&header, buffer->bytes, sizeof header);
    return take(header.lane);
  }
  int poll(uint32_t, Events&) override { return 0; }
  std::string error_text(int) const override { return "none"; }

 private:
  static int take(uint32_t lane) {
    if (lane == 0) {
      entered = true;
      entered.notify_all();
      goes_on.wait(false);
    }
    return gone;
  }
};

std::map<std::string, std::string> published;

Directory directory() {
  return {[](const std::string& key, const std::string& value) { published[key] = value; },
          [](int, const std::string& key) { return published[key]; }, 1000, [] {}};
}

class Lanes : public testing::TestWithParam<bool> {
 protected:
  Lanes() {
    constexpr LaneMap two{1, 0};
    transport_ = std::make_unique<NetTransport>(std::make_unique<Holding>(), Opening{.rank = 0,
                                                                                     .ranks = 2,
                                                                                     .lanes = two,
                                                                                     .secret = std::string(32, '7'),
                                                                                     .sleeps = false,
                                                                                     .directory = directory(),
                                                                                     .encrypt = GetParam()});
    way_ = transport_->connect(1);
    entered = goes_on = false;
  }
  std::unique_ptr<NetTransport> transport_;
  Endpoint* way_ = nullptr;
};

TEST_P(Lanes, DoNotWaitForEachOther) {
  std::string why_not;
  if (GetParam() && !cipher_is_there(why_not)) GTEST_SKIP() << why_not;
  std::thread held([this] { EXPECT_EQ(way_->send(1, {7, 0, 3, 0}, "data", 4), Post::done); });
  entered.wait(false);
  std::atomic<bool> done = false;
  std::thread other([&] {
    EXPECT_EQ(way_->send(1, {7, 0, 3, 1}, "data", 4), Post::done);
    const Staging staging = transport_->reserve_staging(100);
    EXPECT_EQ(way_->send_staged(1, {7, 0, 3, 1}, "x", 1, staging, 100), Post::done);
    const Post pushed = way_->push(1, {7, 0, 3, 1}, "data", 4, {});
    EXPECT_EQ(pushed, GetParam() ? Post::unsupported : Post::done);
    done = true;
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(done) << "while a sender is held on lane 0";
  goes_on = true;
  goes_on.notify_all();
  held.join();
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Plain, Lanes, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Encrypted, Lanes, testing::Values(true));

}  // namespace
}  // namespace weft::transport::net
