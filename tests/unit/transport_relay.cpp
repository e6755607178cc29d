// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a host that share an endpoint (transport/relay): two hosts in this process, with a stand-in for the carrier
// between their host proxies. They have no threads here: the tests advance them.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "boot/job/segment.hpp"
#include "transport/api/failure.hpp"
#include "transport/relay/carrier.hpp"

namespace weft::transport::relay {
namespace {

using net::Address;
using net::Buffer;
using net::Carrier;
using net::Header;
using net::Intake;
using Bytes = std::vector<unsigned char>;

std::vector<int> lost_ranks;  // as reported to the sink

// Carries to another one in this process. A frame waits until the other has memory for it.
class Wire final : public Carrier {
 public:
  explicit Wire(Intake intake) : intake_(intake) {
    for (size_t i = 0; i < intake.count; ++i) posted.push_back(intake.memory + i * intake.stride);
  }
  const char* name() const override { return "wire"; }
  ~Wire() override {
    if (descriptor >= 0) close(descriptor);
  }
  std::string address(uint32_t) override {
    Wire* me = this;
    return {reinterpret_cast<const char*>(&me), sizeof me};
  }
  bool insert(std::string_view bytes, Address& address) override {
    if (bytes.size() != sizeof address) return false;
    std::memcpy(&address, bytes.data(), sizeof address);
    return true;
  }
  int send(uint32_t, Buffer* buffer, const void* start, size_t bytes, Address to) override {
    if (full) return EAGAIN;
    if (broken != 0) return broken;
    const auto* from = static_cast<const unsigned char*>(start);
    reinterpret_cast<Wire*>(to)->coming.emplace_back(from, from + bytes);
    left_.push_back(buffer);
    return 0;
  }
  void renew(const unsigned char* frame) override { posted.push_back(const_cast<unsigned char*>(frame)); }
  int poll(uint32_t, net::Events& events) override {
    int count = 0;
    for (; !left_.empty(); ++count, left_.pop_front()) events.sent(0, left_.front(), 0);
    for (; !coming.empty() && !posted.empty(); ++count) {
      const Bytes frame = std::move(coming.front());
      coming.pop_front();
      unsigned char* const to = posted.front();
      posted.pop_front();
      least_posted = std::min(least_posted, posted.size());
      std::memcpy(to, frame.data(), std::min(frame.size(), intake_.stride));
      events.came(0, to, frame.size());
    }
    return count;
  }
  int wait_descriptor() const override { return descriptor; }
  std::string error_text(int) const override { return "none"; }

  std::deque<Bytes> coming;
  std::deque<unsigned char*> posted;
  size_t least_posted = SIZE_MAX;
  bool full = false;
  int broken = 0;
  int descriptor = -1;

 private:
  Intake intake_;
  std::deque<Buffer*> left_;
};

// A rank's carrier, and what it has reported.
struct Rank final : net::Events {
  explicit Rank(const Host& host, const HostProxy::Make& make = {}) : carrier(host, make, false) {}
  Came came(uint32_t, const unsigned char* frame, size_t bytes) override {
    frames.emplace_back(frame, frame + bytes);
    return Came::in_turn;
  }
  void sent(uint32_t, Buffer*, int) override {}
  void lost(uint32_t rank, int error) override { lost_to.emplace_back(rank, error); }

  int poll() { return carrier.poll(0, *this); }
  Address way_to(Rank& other) {
    Address address = 0;
    EXPECT_TRUE(carrier.insert(other.carrier.address(0), address));
    return address;
  }
  // EAGAIN: no buffer.
  int send(Address to, const Bytes& frame, Carrier::Use use = Carrier::Use::message) {
    Buffer* const buffer = carrier.lend(use);
    if (buffer == nullptr) return EAGAIN;
    std::memcpy(buffer->bytes, frame.data(), frame.size());
    const int result = carrier.send(0, buffer, buffer->bytes, frame.size(), to);
    carrier.take_back(buffer);
    return result == Carrier::gone ? 0 : result;
  }

  RelayCarrier carrier;
  std::vector<Bytes> frames;
  std::vector<std::pair<uint32_t, int>> lost_to;
};

// Places 0 to count; place 0 is the host proxy's, and has no carrier here.
struct TestHost {
  TestHost(int first, int count, HostBuffers buffers = {64, net::staging_most}) : segment(boot::create_segment(false)) {
    const RelayLayout layout = layout_for(count, buffers);
    EXPECT_TRUE(boot::size_segment(segment, layout.total));
    std::vector<int> here(static_cast<size_t>(count));
    std::iota(here.begin(), here.end(), first);
    memory = std::make_unique<RelayMemory>(segment, 0, layout);
    const auto make = [this](Intake intake) {
      auto made = std::make_unique<Wire>(intake);
      wire = made.get();
      return made;
    };
    proxy = std::make_unique<HostProxy>(*memory, here, make, [this](int place) { woken.push_back(place); });
    for (int place = 1; place < count; ++place) {
      ranks.push_back(std::make_unique<Rank>(Host{segment, 0, place, here, buffers, {}}));
    }
  }
  ~TestHost() {
    ranks.clear();
    proxy.reset();
    memory.reset();
    close(segment);
  }
  Rank& rank(int place) { return *ranks[static_cast<size_t>(place) - 1]; }
  // An item in the ring of a place, as no correct rank writes it.
  void write(uint32_t place, Item item) {
    RankPage& page = memory->page(place);
    const uint32_t written = page.outward.written.load();
    page.outward_items[written % outward_room] = item;
    page.outward.written.store(written + 1);
  }

  int segment;
  Wire* wire = nullptr;
  std::vector<int> woken;
  std::unique_ptr<RelayMemory> memory;
  std::unique_ptr<HostProxy> proxy;
  std::vector<std::unique_ptr<Rank>> ranks;
};

class Relay : public ::testing::Test {
 protected:
  Relay() {
    lost_ranks.clear();
    set_failure_sink([](int rank, const base::Problem&) { lost_ranks.push_back(rank); });
  }
  ~Relay() override { set_failure_sink(nullptr); }
  // Until neither has anything to do.
  static void advance(TestHost& a, TestHost& b) {
    while (static_cast<int>(a.proxy->advance()) + static_cast<int>(b.proxy->advance()) != 0) continue;
  }
  static Bytes frame_of(size_t bytes, unsigned number) {
    Bytes frame(bytes);
    for (size_t i = 0; i < bytes; ++i) frame[i] = static_cast<unsigned char>(i * 7 + i / 256 + number);
    return frame;
  }
};

TEST_F(Relay, FramesOfAllSizesReachTheRankTheyAreFor) {
  TestHost a(0, 3), b(3, 4);
  unsigned number = 0;
  for (const size_t bytes : {sizeof(Header), size_t{100}, size_t{8200}, net::frame_most}) {
    for (int from = 1; from < 3; ++from) {
      for (int to = 1; to < 4; ++to, ++number) {
        ASSERT_EQ(a.rank(from).send(a.rank(from).way_to(b.rank(to)), frame_of(bytes, number)), 0);
        advance(a, b);
        EXPECT_EQ(b.rank(to).poll(), 1);
        ASSERT_EQ(b.rank(to).frames.size(), 1u);
        EXPECT_EQ(b.rank(to).frames[0], frame_of(bytes, number));
        b.rank(to).frames.clear();
        EXPECT_EQ(b.woken.back(), to);
        EXPECT_TRUE(a.rank(from).carrier.all_sent());
      }
    }
  }
  EXPECT_TRUE(lost_ranks.empty());
  EXPECT_EQ(a.memory->free_buffers(), a.memory->layout().outward);
}

TEST_F(Relay, WordsOfFlowControlFindABufferWhateverMessagesHold) {
  TestHost a(0, 2), b(2, 2);
  Rank& from = a.rank(1);
  const Address to = from.way_to(b.rank(1));
  a.wire->full = true;
  while (from.send(to, frame_of(100, 1)) == 0) advance(a, b);
  EXPECT_EQ(from.carrier.lend(Carrier::Use::message), nullptr);
  EXPECT_EQ(from.send(to, frame_of(sizeof(Header), 2), Carrier::Use::word), 0);
  EXPECT_FALSE(from.carrier.all_sent());
  advance(a, b);
  a.wire->full = false;
  advance(a, b);
  EXPECT_TRUE(from.carrier.all_sent());
}

TEST_F(Relay, RanksWhoseFramesDoNotLeaveKeepOthersFromNoBuffer) {
  TestHost a(0, 10), b(10, 2);
  a.wire->full = true;
  for (int place = 1; place < 10; ++place) {
    Rank& from = a.rank(place);
    const Address to = from.way_to(b.rank(1));
    int sent = 0;
    while (from.send(to, frame_of(100, 1)) == 0) {
      ++sent;
      advance(a, b);
    }
    EXPECT_GE(sent, 1) << "place " << place;
  }
  a.wire->full = false;
  advance(a, b);
  EXPECT_EQ(a.memory->free_buffers(), a.memory->layout().outward);
}

// A message that waits for its peer keeps its buffer.
TEST_F(Relay, StagedMessagesLeaveBuffersForOthers) {
  TestHost a(0, 9, {16, 4096});
  for (int place = 1; place < 9; ++place) {
    EXPECT_NE(a.rank(place).carrier.lend(Carrier::Use::staging), nullptr);
    while (a.rank(place).carrier.lend(Carrier::Use::staging) != nullptr) continue;
  }
  for (int place = 1; place < 9; ++place) {
    EXPECT_NE(a.rank(place).carrier.lend(Carrier::Use::message), nullptr) << "place " << place;
  }
}

TEST_F(Relay, ABufferThatWasNotSentIsFreeAgain) {
  TestHost a(0, 2, {1, 4096});
  Rank& rank = a.rank(1);
  for (int i = 0; i < 100; ++i) {
    Buffer* const staged = rank.carrier.lend(Carrier::Use::staging);
    ASSERT_NE(staged, nullptr);
    rank.carrier.take_back(staged);
  }
  EXPECT_EQ(a.memory->free_buffers(), a.memory->layout().outward);
}

TEST_F(Relay, ARankThatTakesNothingHoldsFewBuffersAndLosesNoFrame) {
  TestHost a(0, 2), b(2, 3);
  Rank& from = a.rank(1);
  const Address idle = from.way_to(b.rank(1)), other = from.way_to(b.rank(2));
  constexpr unsigned count = 300;
  for (unsigned i = 0; i < count; ++i) {
    ASSERT_EQ(from.send(idle, frame_of(1000 + i, i)), 0);
    advance(a, b);
  }
  EXPECT_GE(b.wire->least_posted, b.memory->layout().inward - 1 - held_most);
  ASSERT_EQ(from.send(other, frame_of(500, 7)), 0);
  advance(a, b);
  EXPECT_EQ(b.rank(2).poll(), 1);
  while (b.rank(1).frames.size() < count) {
    ASSERT_GT(b.rank(1).poll(), 0);
    advance(a, b);
  }
  for (unsigned i = 0; i < count; ++i) ASSERT_EQ(b.rank(1).frames[i], frame_of(1000 + i, i));
  EXPECT_EQ(b.wire->posted.size(), b.memory->layout().inward);
}

TEST_F(Relay, AllRanksThatTakeNothingLeaveBuffersToTheCarrier) {
  TestHost a(0, 2), b(2, 70);
  Rank& from = a.rank(1);
  for (int place = 1; place < 70; ++place) {
    const Address to = from.way_to(b.rank(place));
    for (unsigned i = 0; i < held_most + 1; ++i) {
      ASSERT_EQ(from.send(to, frame_of(100, i)), 0);
      advance(a, b);
    }
  }
  EXPECT_GE(b.wire->posted.size(), 8u);
  for (int place = 1; place < 70; ++place) {
    while (b.rank(place).frames.size() < held_most + 1) {
      ASSERT_GT(b.rank(place).poll(), 0) << "place " << place;
      advance(a, b);
    }
  }
}

TEST_F(Relay, AFrameThatCannotBeDeliveredIsReportedToItsSender) {
  TestHost a(0, 3), b(3, 2);
  a.wire->broken = EHOSTUNREACH;
  ASSERT_EQ(a.rank(2).send(a.rank(2).way_to(b.rank(1)), frame_of(100, 1)), 0);
  advance(a, b);
  EXPECT_EQ(a.rank(2).poll(), 1);
  ASSERT_EQ(a.rank(2).lost_to.size(), 1u);
  EXPECT_EQ(a.rank(2).lost_to[0], std::pair(4u, EHOSTUNREACH));
  EXPECT_TRUE(a.rank(1).lost_to.empty());
  EXPECT_TRUE(a.rank(2).carrier.all_sent());
}

TEST_F(Relay, MoreNoticesThanTheRingHoldsAllArrive) {
  TestHost a(0, 2), b(2, 2);
  a.wire->broken = EHOSTUNREACH;
  const Address to = a.rank(1).way_to(b.rank(1));
  constexpr size_t count = 3 * inward_room;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(a.rank(1).send(to, frame_of(100, 1)), 0);
    advance(a, b);
  }
  while (a.rank(1).lost_to.size() < count) {
    ASSERT_GT(a.rank(1).poll(), 0);
    advance(a, b);
  }
}

TEST_F(Relay, FramesForNoRankOfTheHostAreTurnedAway) {
  TestHost a(0, 2), b(2, 2);
  for (const Prefix prefix : {Prefix{0, 0}, Prefix{4, 0}, Prefix{~0u, 0}, Prefix{0, rank_check(4)}}) {
    Bytes frame(100);
    std::memcpy(frame.data(), &prefix, sizeof prefix);
    b.wire->coming.push_back(frame);
  }
  b.wire->coming.emplace_back(3);                                   // no prefix
  b.wire->coming.emplace_back(b.memory->layout().frame + 1, '\0');  // longer than a frame
  advance(a, b);
  EXPECT_EQ(b.rank(1).poll(), 0);
  EXPECT_EQ(b.wire->posted.size(), b.memory->layout().inward);
}

TEST_F(Relay, AFrameArrivesWhicheverBitOfItsPrefixIsChanged) {
  TestHost a(0, 2), b(2, 2);
  for (size_t bit = 0; bit < 8 * sizeof(Prefix); ++bit) {
    Bytes frame = frame_of(100, 1);
    const Prefix prefix{3, rank_check(3)};
    std::memcpy(frame.data(), &prefix, sizeof prefix);
    frame[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
    b.wire->coming.push_back(frame);
    advance(a, b);
    EXPECT_EQ(b.rank(1).poll(), 1) << "bit " << bit;
    advance(a, b);
  }
}

TEST_F(Relay, NumbersThatARankMayNotNameAreReportedAndNothingIsSent) {
  const uint32_t stride = layout_for(3, {64, net::staging_most}).outward_stride;
  const Item wrong[] = {
      {.what = ItemKind::none},
      {.what = static_cast<ItemKind>(77)},
      {.what = ItemKind::lost},
      {.what = ItemKind::frame, .number = 72, .bytes = 100},  // there is none
      {.what = ItemKind::frame, .number = ~0u, .bytes = 100},
      {.what = ItemKind::frame, .number = 65, .bytes = 100},                // of another rank
      {.what = ItemKind::frame, .number = 64, .at = stride, .bytes = 100},  // outside of the buffer
      {.what = ItemKind::frame, .number = 64, .at = stride - 50, .bytes = 100},
      {.what = ItemKind::frame, .number = 64, .at = 100, .bytes = ~0u},
      {.what = ItemKind::frame, .number = 64, .at = 0, .bytes = 4},               // no prefix
      {.what = ItemKind::frame, .number = 64, .at = 0, .bytes = 100, .host = 1},  // not announced
      {.what = ItemKind::word, .number = words_of_rank, .bytes = 56},
      {.what = ItemKind::word, .number = 0, .at = 0, .bytes = 65},
      {.what = ItemKind::host, .number = 2, .bytes = 8},  // not the next
      {.what = ItemKind::host, .number = 1, .bytes = address_most + 1},
      {.what = ItemKind::host, .number = 1, .bytes = 3},  // no address
      {.what = ItemKind::back, .number = 0},              // not held
      {.what = ItemKind::back, .number = ~0u},
  };
  for (const Item& item : wrong) {
    SCOPED_TRACE(static_cast<int>(&item - wrong));
    lost_ranks.clear();
    TestHost a(0, 3), b(3, 2);
    const Address to = a.rank(1).way_to(b.rank(1));
    ASSERT_EQ(a.rank(1).send(to, frame_of(100, 1)), 0);  // the host is announced
    advance(a, b);
    ASSERT_EQ(b.rank(1).poll(), 1);
    ASSERT_EQ(a.memory->layout().outward, 72u);
    ASSERT_NE(a.rank(1).carrier.lend(Carrier::Use::message), nullptr);  // number 64
    ASSERT_NE(a.rank(2).carrier.lend(Carrier::Use::message), nullptr);  // number 65
    a.write(1, item);
    advance(a, b);
    EXPECT_EQ(lost_ranks, std::vector<int>{1});
    EXPECT_EQ(b.rank(1).poll(), 0);
    // Others go on.
    ASSERT_EQ(a.rank(2).send(a.rank(2).way_to(b.rank(1)), frame_of(100, 2)), 0);
    advance(a, b);
    EXPECT_EQ(b.rank(1).poll(), 1);
  }
}

TEST_F(Relay, ABufferInFlightIsNotSentAgain) {
  TestHost a(0, 2), b(2, 2);
  const Address to = a.rank(1).way_to(b.rank(1));
  a.wire->full = true;
  ASSERT_EQ(a.rank(1).send(to, frame_of(100, 1)), 0);
  advance(a, b);
  a.write(1, {.what = ItemKind::frame, .number = 64, .bytes = 100});
  advance(a, b);
  EXPECT_EQ(lost_ranks, std::vector<int>{1});
  a.wire->full = false;
  advance(a, b);
  EXPECT_EQ(b.rank(1).poll(), 1);
}

TEST_F(Relay, ARingThatClaimsMoreThanItHoldsIsReportedOnce) {
  TestHost a(0, 2), b(2, 2);
  a.memory->page(1).outward.written.store(outward_room + 1);
  advance(a, b);
  advance(a, b);
  EXPECT_EQ(lost_ranks, std::vector<int>{1});
}

TEST_F(Relay, BytesThatAreNoAddressAreRefused) {
  TestHost a(0, 2);
  Address address = 0;
  EXPECT_FALSE(a.rank(1).carrier.insert("", address));
  EXPECT_FALSE(a.rank(1).carrier.insert("abcd", address));
  EXPECT_FALSE(a.rank(1).carrier.insert(std::string(address_most + 5, 'a'), address));
  EXPECT_TRUE(a.rank(1).carrier.insert(std::string(address_most + 4, 'a'), address));
}

// A host proxy that sleeps and is not called looks again after seconds: this many would take minutes.
TEST_F(Relay, EachRankCallsAHostProxyThatSleeps) {
  const int segment = boot::create_segment(false);
  ASSERT_TRUE(boot::size_segment(segment, layout_for(2, {8, 8192}).total));
  const auto make = [](Intake intake) {
    auto made = std::make_unique<Wire>(intake);
    made->descriptor = eventfd(0, EFD_CLOEXEC);
    return made;
  };
  std::atomic<int> woken = 0;
  {
    Rank first(Host{segment, 0, 0, {0, 1}, {8, 8192}, [&woken](int) { ++woken; }}, make);
    Rank second(Host{segment, 0, 1, {0, 1}, {8, 8192}, {}});
    for (Rank* from : {&first, &second}) {
      const Address to = from->way_to(second);
      for (unsigned i = 0; i < 40; ++i) {
        ASSERT_EQ(from->send(to, frame_of(100, i)), 0);
        while (second.poll() == 0) sched_yield();
        EXPECT_EQ(second.frames.back(), frame_of(100, i));
      }
    }
  }
  EXPECT_GE(woken, 80);
  close(segment);
}

// A rank believes its host proxy no more than the proxy believes it.
TEST_F(Relay, NumbersThatTheHostProxyMayNotNameEndTheJob) {
  const Item wrong[] = {
      {.what = ItemKind::frame, .number = 72, .at = 8, .bytes = 100},
      {.what = ItemKind::frame, .number = 0, .at = 8, .bytes = layout_for(2, {64, net::staging_most}).frame + 1},
      {.what = ItemKind::frame, .number = 0, .at = 8, .bytes = 7},
      {.what = ItemKind::frame, .number = 0, .at = 16, .bytes = 100},
      {.what = ItemKind::back, .number = 0}};
  for (const Item& item : wrong) {
    TestHost b(2, 2);
    RankPage& page = b.memory->page(1);
    page.inward_items[0] = item;
    page.inward.written.store(1);
    EXPECT_DEATH((void)b.rank(1).poll(), "");
  }
}

}  // namespace
}  // namespace weft::transport::relay
