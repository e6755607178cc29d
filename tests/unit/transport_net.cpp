// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What the transport between hosts makes of a carrier (transport/net), with one that carries inside this process and
// reads when it is told to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/net/reading.hpp"
#include "transport/net/transport.hpp"

namespace weft::transport::net {
namespace {

struct Exposed {
  const unsigned char* memory;
  size_t bytes;
};

class InProcess final : public Carrier {
 public:
  struct Pending {
    const unsigned char* from;
    void* to;
    size_t bytes;
    Read* read;
  };

  struct Writing {
    Buffer* buffer;
    const void* from;
    unsigned char* to;
    size_t bytes;
  };

  InProcess(InProcess*& place, bool reads) : reads_(reads) { place = this; }

  const char* name() const override { return "inside"; }
  std::string address(uint32_t) override {
    InProcess* me = this;
    return {reinterpret_cast<const char*>(&me), sizeof me};
  }
  bool insert(std::string_view bytes, Address& address) override {
    std::memcpy(&address, bytes.data(), sizeof address);
    return bytes.size() == sizeof address;
  }
  int send(uint32_t, Buffer* buffer, const void* start, size_t bytes, Address to) override {
    if (full) return EAGAIN;
    const auto* from = static_cast<const unsigned char*>(start);
    reinterpret_cast<InProcess*>(to)->came_.emplace_back(from, from + bytes);
    left_.push_back(buffer);
    return 0;
  }
  bool pushes() const override { return reads_; }
  int push(Buffer* buffer, const void* data, size_t bytes, Address to) override {
    const auto* from = static_cast<const unsigned char*>(data);
    auto& whole = reinterpret_cast<InProcess*>(to)->came_.emplace_back(buffer->bytes, buffer->bytes + sizeof(Header));
    whole.insert(whole.end(), from, from + bytes);
    left_.push_back(buffer);
    return 0;
  }
  void bring(Events& events, const std::vector<unsigned char>& item) {
    Header header;
    std::memcpy(&header, item.data(), sizeof header);
    if (header.magic != pushed_magic) {
      in_turn = events.came(0, item.data(), item.size());
      return;
    }
    Room room;
    if (!events.begins(0, header, room)) {
      ++refused;
    } else if (room.read != nullptr) {
      std::memcpy(room.to, item.data() + sizeof header, std::min<size_t>(room.bytes, header.bytes));
      events.have_landed(*room.read);
    }
  }
  int poll(uint32_t, Events& events) override {
    int count = 0;
    for (; !left_.empty(); ++count, left_.pop_front()) events.sent(0, left_.front(), 0);
    for (; !came_.empty(); ++count, came_.pop_front()) bring(events, came_.front());
    for (; reads_to_end > 0 && !pending.empty(); ++count, --reads_to_end) {
      const Pending one = pending.front();
      pending.pop_front();
      if (error == 0) std::memcpy(one.to, one.from, one.bytes);
      events.have_read(*one.read, error);
    }
    for (; writes_to_end > 0 && !writing.empty(); ++count, --writes_to_end) {
      const Writing one = writing.front();
      writing.pop_front();
      if (error == 0) std::memcpy(one.to, one.from, one.bytes);
      events.written(0, one.buffer, error);
    }
    return count;
  }
  std::string error_text(int) const override { return "none"; }

  bool reads() const override { return reads_; }
  bool expose(const void* memory, size_t bytes, MemoryRef& ref) override {
    if (refuse_to_expose) return false;
    ref = {0, next_key++};  // its addresses begin at 0
    exposed[ref.key] = {static_cast<const unsigned char*>(memory), bytes};
    return true;
  }
  void conceal(uint64_t key) override { exposed.erase(key); }
  size_t read_most() const override { return most; }
  int read(uint32_t, Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes, Read& read) override {
    if (pending.size() == 2) return EAGAIN;
    const auto& theirs = reinterpret_cast<InProcess*>(from)->exposed;
    const auto known = theirs.find(memory.key);
    if (known == theirs.end() || at + bytes > known->second.bytes) return EINVAL;
    pending.push_back({known->second.memory + memory.address + at, to, bytes, &read});
    return 0;
  }

  bool writes() const override { return reads_; }
  bool offer(void* memory, size_t bytes, MemoryRef& ref) override { return expose(memory, bytes, ref); }
  int write(uint32_t, Buffer* buffer, const void* start, size_t bytes, Address to, const MemoryRef& memory,
            size_t at) override {
    if (writing.size() == writes_most) return EAGAIN;
    const auto& theirs = reinterpret_cast<InProcess*>(to)->exposed;
    const auto known = theirs.find(memory.key);
    if (known == theirs.end() || at + bytes > known->second.bytes) return EINVAL;
    writing.push_back({buffer, start, const_cast<unsigned char*>(known->second.memory) + memory.address + at, bytes});
    return 0;
  }

  std::map<uint64_t, Exposed> exposed;
  std::deque<Pending> pending;
  int reads_to_end = 0;
  std::deque<Writing> writing;
  size_t writes_most = SIZE_MAX;  // under way
  int writes_to_end = 0;
  bool in_turn = true;  // the last frame that came
  bool full = false;    // takes no frame
  int refused = 0;      // pushed, and nothing to be believed
  int error = 0;
  bool refuse_to_expose = false;
  size_t most = SIZE_MAX;

  std::deque<std::vector<unsigned char>>& came() { return came_; }

 private:
  bool reads_;
  uint64_t next_key = 5;
  std::deque<std::vector<unsigned char>> came_;
  std::deque<Buffer*> left_;
};

std::map<std::string, std::string> published[2];
int publisher;
int questions;

Directory directory() {
  return {[](const std::string& key, const std::string& value) { published[publisher][key] = value; },
          [](int rank, const std::string& key) {
            ++questions;
            return published[rank][key];
          },
          1000, [] {}};
}

struct Two {
  explicit Two(bool reads, bool both_know = true) {
    for (int rank : {0, 1}) {
      published[rank].clear();
      publisher = rank;
      transports[rank] = std::make_unique<NetTransport>(std::make_unique<InProcess>(carriers[rank], reads),
                                                        Opening{rank, 2, {}, std::string(32, '7'), false, directory()});
    }
    way = transports[0]->connect(1);
    if (both_know) back = transports[1]->connect(0);
  }
  InProcess* carriers[2] = {};
  std::unique_ptr<NetTransport> transports[2];
  Endpoint* way = nullptr;
  Endpoint* back = nullptr;
};

struct NotedRead : Read {
  int ended = 0;
  int error = -1;
  NotedRead()
      : Read{[](Read& read, int why) {
          ++static_cast<NotedRead&>(read).ended;
          static_cast<NotedRead&>(read).error = why;
        }} {}
};

std::vector<Envelope> seen;
void record(const Arrival& a) {
  seen.push_back(a.envelope);
}

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

// What comes of pushed messages.
struct Pushed {
  NetTransport* transport;
  std::vector<Envelope> seen;
  unsigned char data[pushed_most];
  size_t room = 0;
  NotedRead read;
  int left = 0;
} pushed;
void take_pushed(const Arrival& a) {
  EXPECT_EQ(a.data, nullptr);
  pushed.seen.push_back(a.envelope);
  pushed.transport->place(a, pushed.data, pushed.room, pushed.read);
}

TEST(Net, PushesWhatTheCarrierCan) {
  Two two(true);
  pushed = {.transport = two.transports[1].get(), .seen = {}, .data = {}, .room = 9, .read = {}};
  const Left left{[](void* whose) { ++*static_cast<int*>(whose); }, &pushed.left};
  EXPECT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", pushed_most + 1, left), Begun::refused) << "too large";
  ASSERT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", 11, left), Begun::posted);
  EXPECT_EQ(pushed.left, 0);
  (void)two.transports[1]->poll(0, take_pushed);
  (void)two.transports[0]->poll(0, record);
  EXPECT_EQ(pushed.left, 1);
  ASSERT_EQ(pushed.seen.size(), 1u);
  EXPECT_EQ(pushed.seen[0].tag, 3);
  EXPECT_EQ(pushed.read.ended, 1);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(pushed.data), 11), std::string("pushed da\0\0", 11));
  Two none(false);
  EXPECT_EQ(none.way->push(1, {7, 1, 3, 0}, "pushed data", 11, left), Begun::refused);
  EXPECT_EQ(none.transports[0]->push_most(), 0u);
  EXPECT_LT(none.transports[0]->eager_bytes(), two.transports[0]->eager_bytes());
}

// A receiver that does not look gets no more than it can bear: half as many large ones as small ones.
TEST(Net, PushesWithinAWindow) {
  for (const size_t bytes : {staging_most, staging_most + 1}) {
    Two two(true);
    pushed = {.transport = two.transports[1].get(), .seen = {}, .data = {}, .room = pushed_most, .read = {}};
    const std::vector<unsigned char> data(bytes);
    const auto push = [&] {
      const Begun begun = two.way->push(1, {7, 1, 3, 0}, data.data(), bytes, {[](void*) {}, nullptr});
      (void)two.transports[0]->poll(0, record);  // so that buffers are not what is missing
      return begun;
    };
    uint32_t count = 0;
    while (count < 100 && push() == Begun::posted) ++count;
    EXPECT_EQ(count, bytes == staging_most ? 64u : 32u);
    EXPECT_EQ(push(), Begun::retry);
    (void)two.transports[1]->poll(0, take_pushed);
    EXPECT_EQ(pushed.seen.size(), count);
    (void)two.transports[0]->poll(0, record);
    EXPECT_EQ(push(), Begun::posted) << "when the receiver has told";
  }
}

// A carrier may bring a message before those that were sent before it; of pushed ones it keeps the order.
TEST(Net, WhatOvertookPushedDataComesBehindThem) {
  Two two(true);
  pushed = {.transport = two.transports[1].get(), .seen = {}, .data = {}, .room = pushed_most, .read = {}};
  ASSERT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", 11, {}), Begun::posted);
  ASSERT_EQ(two.way->send(1, {7, 1, 4, 0}, nullptr, 0), Post::done);
  ASSERT_EQ(two.way->send(1, {7, 1, 5, 0}, nullptr, 0), Post::done);
  auto& came = two.carriers[1]->came();
  std::swap(came[0], came[2]);
  (void)two.transports[1]->poll(
      0, [](const Arrival& a) { a.data == nullptr ? take_pushed(a) : pushed.seen.push_back(a.envelope); });
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

TEST(Net, BelievesNoPushedDataOutOfTurn) {
  Two two(true);
  pushed = {.transport = two.transports[1].get(), .seen = {}, .data = {}, .room = pushed_most, .read = {}};
  const auto push = [&](size_t at, unsigned char byte) {
    EXPECT_EQ(two.way->push(1, {7, 1, 3, 0}, "pushed data", 11, {}), Begun::posted);
    two.carriers[1]->came().back()[at] = byte;
    (void)two.transports[1]->poll(0, take_pushed);
  };
  push(offsetof(Header, proof), 99);
  EXPECT_EQ(two.carriers[1]->refused, 0) << "it is dropped, and what follows can be read";
  push(offsetof(Header, bytes) + 3, 1);
  EXPECT_EQ(two.carriers[1]->refused, 1) << "so many bytes do not follow";
  push(offsetof(Header, sequence), 5);
  EXPECT_EQ(two.carriers[1]->refused, 2);
  EXPECT_TRUE(pushed.seen.empty());
}

TEST(Net, LendsLargeMemoryUntilItIsTakenBack) {
  Two two(true);
  std::vector<unsigned char> memory(static_cast<size_t>(read_from(adapters_read_from)));
  NetTransport& owner = *two.transports[0];
  EXPECT_EQ(owner.describe(memory.data(), memory.size() - 1, true).key, MemoryRef::no_key) << "small";
  EXPECT_EQ(owner.describe(memory.data(), memory.size(), false).key, MemoryRef::no_key) << "not asked to";
  EXPECT_EQ(two.carriers[0]->exposed.size(), 0u);
  const MemoryRef lent = owner.describe(memory.data(), memory.size(), true);
  EXPECT_NE(lent.key, MemoryRef::no_key);
  EXPECT_EQ(two.carriers[0]->exposed.size(), 1u);
  owner.take_back(lent);
  EXPECT_EQ(two.carriers[0]->exposed.size(), 0u);
  two.carriers[0]->refuse_to_expose = true;
  EXPECT_EQ(owner.describe(memory.data(), memory.size(), true).key, MemoryRef::no_key);
}

TEST(Net, ReadsInPieces) {
  Two two(true);
  std::vector<unsigned char> memory((9 << 20) + 5);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>(i * 31 + i / 251);
  const MemoryRef lent = two.transports[0]->describe(memory.data(), memory.size(), true);
  std::vector<unsigned char> here(memory.size());
  NotedRead reads[4];
  size_t at = 0;
  int pieces = 0;
  while (at < memory.size()) {
    ASSERT_LT(pieces, 4);
    size_t bytes = memory.size() - at;
    const Begun begun = two.back->begin_get(lent, at, here.data() + at, bytes, 0, reads[pieces]);
    if (begun == Begun::retry) {
      EXPECT_EQ(two.carriers[1]->pending.size(), 2u);
      two.carriers[1]->reads_to_end = 1;
      EXPECT_EQ(two.transports[1]->poll(0, record), 1);
      continue;
    }
    ASSERT_EQ(begun, Begun::posted);
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
  ASSERT_EQ(two.back->begin_get(lent, 0, here.data(), bytes, 0, reads[3]), Begun::posted);
  EXPECT_EQ(bytes, 1000u);
}

TEST(Net, WhatHasNoKeyIsNotRead) {
  Two two(true);
  char here[8];
  size_t bytes = sizeof here;
  NotedRead read;
  EXPECT_EQ(two.back->begin_get({reinterpret_cast<uint64_t>(here), MemoryRef::no_key}, 0, here, bytes, 0, read),
            Begun::refused);
  EXPECT_EQ(two.back->begin_get({0, 12345}, 0, here, bytes, 0, read), Begun::refused) << "unknown to the carrier";
  EXPECT_EQ(read.ended, 0);
}

TEST(Net, ACarrierWithoutReadsLendsNothing) {
  Two two(false);
  std::vector<unsigned char> memory(static_cast<size_t>(read_from(adapters_read_from)));
  EXPECT_EQ(two.transports[0]->describe(memory.data(), memory.size(), true).key, MemoryRef::no_key);
  size_t bytes = memory.size();
  NotedRead read;
  EXPECT_EQ(two.back->begin_get({0, 5}, 0, memory.data(), bytes, 0, read), Begun::refused);
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

// During the last barrier the launcher answers to that alone. Who sends to us for the first time then needs no answer;
// nor does who has sent before and is not so many messages behind any more.
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
  const MemoryRef lent = two.transports[0]->describe(memory.data(), memory.size(), true);
  NotedRead read;
  size_t bytes = memory.size();
  ASSERT_EQ(two.back->begin_get(lent, 0, memory.data(), bytes, 0, read), Begun::posted);
  two.carriers[1]->error = EIO;
  two.carriers[1]->reads_to_end = 1;
  (void)two.transports[1]->poll(0, record);
  EXPECT_EQ(read.ended, 1);
  EXPECT_EQ(read.error, EIO);
  EXPECT_EQ(two.back->begin_get(lent, 0, memory.data(), bytes, 0, read), Begun::refused);
  EXPECT_EQ(two.transports[1]->describe(memory.data(), memory.size(), true).key, MemoryRef::no_key);
  two.transports[0]->take_back(lent);
  EXPECT_EQ(two.carriers[0]->exposed.size(), 0u);
}

// Both sides, and memory of the second that it offers to the first.
struct Offering {
  Two two{true};
  std::vector<unsigned char> memory = std::vector<unsigned char>(static_cast<size_t>(read_from(adapters_read_from)));
  MemoryRef offered = two.transports[1]->offer(memory.data(), memory.size());
  int told = 0;
  int placed = 0;

  // `bytes` that are all `value`, to `at`.
  Begun send(unsigned char value, size_t bytes, size_t at) {
    const Staging staging = two.transports[0]->reserve_staging(bytes);
    if (staging.memory == nullptr) return Begun::retry;
    std::memset(staging.memory, value, bytes);
    const Begun begun = two.way->send_placed(1, {7, value, 0, 0}, &value, 1, staging, bytes, offered, at, 0,
                                             {[](void* whose, bool lies_there) {
                                                auto& me = *static_cast<Offering*>(whose);
                                                ++me.told;
                                                if (lies_there) ++me.placed;
                                              },
                                              this});
    if (begun != Begun::posted) two.transports[0]->drop_staging(staging, bytes);
    return begun;
  }
  void end_writes(int count) {
    two.carriers[0]->writes_to_end = count;
    (void)two.transports[0]->poll(0, record);
    two.carriers[0]->writes_to_end = 0;
  }
};

// A message that names what was staged, and where that is.
struct Staged {
  unsigned char value;
  bool along;
  unsigned char first;  // of what came along
};
Endpoint* staged_from;
std::vector<Staged> staged_seen;
void record_staged(const Arrival& a) {
  const auto* contents = static_cast<const unsigned char*>(staged_from->staging(a, 0));
  staged_seen.push_back({*static_cast<const unsigned char*>(a.data), contents != nullptr,
                         contents != nullptr ? *contents : static_cast<unsigned char>(0)});
}
void receive_staged(Two& two) {
  staged_from = two.back;
  staged_seen.clear();
  (void)two.transports[1]->poll(0, record_staged);
}

TEST(Net, OffersLargeMemoryUntilItIsTakenBack) {
  Offering one;
  NetTransport& owner = *one.two.transports[1];
  EXPECT_NE(one.offered.key, MemoryRef::no_key);
  EXPECT_EQ(owner.offer(one.memory.data(), one.memory.size() - 1).key, MemoryRef::no_key) << "small";
  EXPECT_EQ(one.two.carriers[1]->exposed.size(), 1u);
  owner.take_back(one.offered);
  EXPECT_EQ(one.two.carriers[1]->exposed.size(), 0u);
  one.two.carriers[1]->refuse_to_expose = true;
  EXPECT_EQ(owner.offer(one.memory.data(), one.memory.size()).key, MemoryRef::no_key);
  Two none(false);
  EXPECT_EQ(none.transports[1]->offer(one.memory.data(), one.memory.size()).key, MemoryRef::no_key);
}

TEST(Net, TellsOfContentsWhenTheyLieInThePeersMemory) {
  Offering one;
  ASSERT_EQ(one.send(11, 1000, 0), Begun::posted);
  ASSERT_EQ(one.send(12, 2000, 5000), Begun::posted);
  EXPECT_FALSE(one.two.transports[0]->all_sent());
  ASSERT_EQ(one.two.way->send(1, {7, 13, 0, 0}, nullptr, 0), Post::done);
  EXPECT_EQ(one.two.carriers[1]->came().size(), 1u) << "told of before it is there";
  seen.clear();
  (void)one.two.transports[1]->poll(0, record);
  EXPECT_EQ(seen.size(), 1u) << "what is sent later does not wait for it";
  one.end_writes(1);
  EXPECT_EQ(one.placed, 1);
  receive_staged(one.two);
  ASSERT_EQ(staged_seen.size(), 1u);
  EXPECT_TRUE(staged_seen[0].value == 11 && !staged_seen[0].along);
  one.end_writes(1);
  receive_staged(one.two);
  ASSERT_EQ(staged_seen.size(), 1u);
  EXPECT_TRUE(staged_seen[0].value == 12 && !staged_seen[0].along);
  EXPECT_EQ(one.placed, 2);
  EXPECT_EQ(one.told, 2);
  EXPECT_EQ(std::count(one.memory.begin(), one.memory.begin() + 1000, 11), 1000);
  EXPECT_EQ(std::count(one.memory.begin() + 5000, one.memory.begin() + 7000, 12), 2000);
  EXPECT_EQ(std::count(one.memory.begin(), one.memory.end(), 0), static_cast<ptrdiff_t>(one.memory.size()) - 3000);
  (void)one.two.transports[0]->poll(0, record);
  EXPECT_TRUE(one.two.transports[0]->all_sent());
}

TEST(Net, WhatHasNoKeyOrNoRoomIsNotWritten) {
  Offering one;
  EXPECT_EQ(one.send(1, 1000, one.memory.size()), Begun::refused) << "behind the end";
  one.two.carriers[0]->writes_most = 0;
  EXPECT_EQ(one.send(1, 1000, 0), Begun::retry);
  one.offered.key = MemoryRef::no_key;
  EXPECT_EQ(one.send(1, 1000, 0), Begun::refused);
  EXPECT_TRUE(one.two.transports[0]->all_sent());
  EXPECT_EQ(one.told, 0);
}

TEST(Net, ContentsThatCannotBeWrittenGoAlongAndNoMoreAreWritten) {
  Offering one;
  ASSERT_EQ(one.send(21, 1000, 0), Begun::posted);
  ASSERT_EQ(one.send(22, 1000, 1000), Begun::posted);
  one.two.carriers[0]->error = EIO;
  one.end_writes(1);
  one.two.carriers[0]->error = 0;
  one.end_writes(1);
  EXPECT_EQ(one.told, 2);
  EXPECT_EQ(one.placed, 1) << "what had begun before may end well";
  receive_staged(one.two);
  ASSERT_EQ(staged_seen.size(), 2u);
  EXPECT_TRUE(staged_seen[0].value == 21 && staged_seen[0].along && staged_seen[0].first == 21);
  EXPECT_TRUE(staged_seen[1].value == 22 && !staged_seen[1].along);
  EXPECT_EQ(one.send(23, 1000, 0), Begun::refused);
}

TEST(Net, WhatWasWrittenIsToldOfWhenThereIsRoom) {
  Offering one;
  ASSERT_EQ(one.send(31, 1000, 0), Begun::posted);
  ASSERT_EQ(one.send(32, 1000, 1000), Begun::posted);
  one.two.carriers[0]->full = true;
  one.end_writes(2);
  for (int i = 0; i < 3; ++i) (void)one.two.transports[0]->poll(0, record);
  EXPECT_EQ(one.told, 0);
  EXPECT_FALSE(one.two.transports[0]->all_sent());
  one.two.carriers[0]->full = false;
  (void)one.two.transports[0]->poll(0, record);
  EXPECT_EQ(one.placed, 2);
  receive_staged(one.two);
  EXPECT_EQ(staged_seen.size(), 2u);
  (void)one.two.transports[0]->poll(0, record);
  EXPECT_TRUE(one.two.transports[0]->all_sent());
}

// A receiver that does not look: what is being written counts as sent, so that all of it can be told of.
TEST(Net, WritesWithinTheWindow) {
  Offering one;
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(one.two.way->send(1, {7, i, 0, 0}, nullptr, 0), Post::done);
    (void)one.two.transports[0]->poll(0, record);
  }
  int writes = 0;
  while (writes < 100 && one.send(9, 100, 0) == Begun::posted) ++writes;
  EXPECT_EQ(writes, 24);
  EXPECT_EQ(one.two.way->send(1, {7, 0, 0, 0}, nullptr, 0), Post::retry);
  one.end_writes(writes);
  EXPECT_EQ(one.placed, writes);
  EXPECT_EQ(one.two.carriers[1]->came().size(), 64u);
  EXPECT_EQ(one.send(9, 100, 0), Begun::retry);
  seen.clear();
  (void)one.two.transports[1]->poll(0, record);
  EXPECT_EQ(seen.size(), 64u);
  (void)one.two.transports[0]->poll(0, record);
  EXPECT_EQ(one.send(9, 100, 0), Begun::posted) << "when the receiver has told";
}

}  // namespace
}  // namespace weft::transport::net
