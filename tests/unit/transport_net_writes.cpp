// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The transport between hosts on top of a carrier that writes into a peer's memory.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "transport_net.hpp"

namespace weft::transport::net {
namespace {

// Both sides, and memory of the second that it offers to the first.
struct Offering {
  Two two{true};
  std::vector<unsigned char> memory = std::vector<unsigned char>(static_cast<size_t>(read_from(adapters_read_from)));
  MemoryRef registered = two.transports[1]->register_memory(memory.data(), memory.size(), Access::write);
  int told = 0;
  int written = 0;

  // `bytes` that are all `value`, to `at`.
  Post send(unsigned char value, size_t bytes, size_t at) {
    const Staging staging = two.transports[0]->reserve_staging(bytes);
    if (staging.memory == nullptr) return Post::retry;
    std::memset(staging.memory, value, bytes);
    const Post begun = two.way->write(1, {7, value, 0, 0}, &value, 1, staging, bytes, registered, at, 0,
                                      {[](void* whose, bool lies_there) {
                                         auto& me = *static_cast<Offering*>(whose);
                                         ++me.told;
                                         if (lies_there) ++me.written;
                                       },
                                       this});
    if (begun != Post::posted) two.transports[0]->drop_staging(staging, bytes);
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
  const auto* contents = static_cast<const unsigned char*>(staged_from->staging(a, 0, 1).value());
  staged_seen.push_back({*static_cast<const unsigned char*>(a.data), contents != nullptr,
                         contents != nullptr ? *contents : static_cast<unsigned char>(0)});
}
void receive_staged(Two& two) {
  staged_from = two.back;
  staged_seen.clear();
  (void)two.transports[1]->poll(0, record_staged);
}

TEST(NetWrites, OffersLargeMemoryUntilItIsTakenBack) {
  Offering one;
  NetTransport& owner = *one.two.transports[1];
  EXPECT_NE(one.registered.key, MemoryRef::no_key);
  EXPECT_EQ(owner.register_memory(one.memory.data(), one.memory.size() - 1, Access::write).key, MemoryRef::no_key)
      << "small";
  EXPECT_EQ(one.two.carriers[1]->registered.size(), 1u);
  owner.deregister(one.registered);
  EXPECT_EQ(one.two.carriers[1]->registered.size(), 0u);
  one.two.carriers[1]->refuse_to_register = true;
  EXPECT_EQ(owner.register_memory(one.memory.data(), one.memory.size(), Access::write).key, MemoryRef::no_key);
  Two none(false);
  EXPECT_EQ(none.transports[1]->register_memory(one.memory.data(), one.memory.size(), Access::write).key,
            MemoryRef::no_key);
}

TEST(NetWrites, TellsOfContentsWhenTheyLieInThePeersMemory) {
  Offering one;
  ASSERT_EQ(one.send(11, 1000, 0), Post::posted);
  ASSERT_EQ(one.send(12, 2000, 5000), Post::posted);
  EXPECT_FALSE(one.two.transports[0]->all_sent());
  ASSERT_EQ(one.two.way->send(1, {7, 13, 0, 0}, nullptr, 0), Post::done);
  EXPECT_EQ(one.two.carriers[1]->came().size(), 1u) << "told of before it is there";
  seen.clear();
  (void)one.two.transports[1]->poll(0, record);
  EXPECT_EQ(seen.size(), 1u) << "what is sent later does not wait for it";
  one.end_writes(1);
  EXPECT_EQ(one.written, 1);
  receive_staged(one.two);
  ASSERT_EQ(staged_seen.size(), 1u);
  EXPECT_TRUE(staged_seen[0].value == 11 && !staged_seen[0].along);
  one.end_writes(1);
  receive_staged(one.two);
  ASSERT_EQ(staged_seen.size(), 1u);
  EXPECT_TRUE(staged_seen[0].value == 12 && !staged_seen[0].along);
  EXPECT_EQ(one.written, 2);
  EXPECT_EQ(one.told, 2);
  EXPECT_EQ(std::count(one.memory.begin(), one.memory.begin() + 1000, 11), 1000);
  EXPECT_EQ(std::count(one.memory.begin() + 5000, one.memory.begin() + 7000, 12), 2000);
  EXPECT_EQ(std::count(one.memory.begin(), one.memory.end(), 0), static_cast<ptrdiff_t>(one.memory.size()) - 3000);
  (void)one.two.transports[0]->poll(0, record);
  EXPECT_TRUE(one.two.transports[0]->all_sent());
}

TEST(NetWrites, WhatHasNoKeyOrNoRoomIsNotWritten) {
  Offering one;
  EXPECT_EQ(one.send(1, 1000, one.memory.size()), Post::unsupported) << "behind the end";
  one.two.carriers[0]->writes_most = 0;
  EXPECT_EQ(one.send(1, 1000, 0), Post::retry);
  one.registered.key = MemoryRef::no_key;
  EXPECT_EQ(one.send(1, 1000, 0), Post::unsupported);
  EXPECT_TRUE(one.two.transports[0]->all_sent());
  EXPECT_EQ(one.told, 0);
}

TEST(NetWrites, ContentsThatCannotBeWrittenGoAlongAndNoMoreAreWritten) {
  Offering one;
  ASSERT_EQ(one.send(21, 1000, 0), Post::posted);
  ASSERT_EQ(one.send(22, 1000, 1000), Post::posted);
  one.two.carriers[0]->error = EIO;
  one.end_writes(1);
  one.two.carriers[0]->error = 0;
  one.end_writes(1);
  EXPECT_EQ(one.told, 2);
  EXPECT_EQ(one.written, 1) << "what had begun before may end well";
  receive_staged(one.two);
  ASSERT_EQ(staged_seen.size(), 2u);
  EXPECT_TRUE(staged_seen[0].value == 21 && staged_seen[0].along && staged_seen[0].first == 21);
  EXPECT_TRUE(staged_seen[1].value == 22 && !staged_seen[1].along);
  EXPECT_EQ(one.send(23, 1000, 0), Post::unsupported);
}

TEST(NetWrites, WhatWasWrittenIsToldOfWhenThereIsRoom) {
  Offering one;
  ASSERT_EQ(one.send(31, 1000, 0), Post::posted);
  ASSERT_EQ(one.send(32, 1000, 1000), Post::posted);
  one.two.carriers[0]->full = true;
  one.end_writes(2);
  for (int i = 0; i < 3; ++i) (void)one.two.transports[0]->poll(0, record);
  EXPECT_EQ(one.told, 0);
  EXPECT_FALSE(one.two.transports[0]->all_sent());
  one.two.carriers[0]->full = false;
  (void)one.two.transports[0]->poll(0, record);
  EXPECT_EQ(one.written, 2);
  receive_staged(one.two);
  EXPECT_EQ(staged_seen.size(), 2u);
  (void)one.two.transports[0]->poll(0, record);
  EXPECT_TRUE(one.two.transports[0]->all_sent());
}

// A receiver that does not look: writes in progress count as sent, so that all of them can be reported.
TEST(NetWrites, WritesWithinTheWindow) {
  Offering one;
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(one.two.way->send(1, {7, i, 0, 0}, nullptr, 0), Post::done);
    (void)one.two.transports[0]->poll(0, record);
  }
  int writes = 0;
  while (writes < 100 && one.send(9, 100, 0) == Post::posted) ++writes;
  EXPECT_EQ(writes, 24);
  EXPECT_EQ(one.two.way->send(1, {7, 0, 0, 0}, nullptr, 0), Post::retry);
  one.end_writes(writes);
  EXPECT_EQ(one.written, writes);
  EXPECT_EQ(one.two.carriers[1]->came().size(), 64u);
  EXPECT_EQ(one.send(9, 100, 0), Post::retry);
  seen.clear();
  (void)one.two.transports[1]->poll(0, record);
  EXPECT_EQ(seen.size(), 64u);
  (void)one.two.transports[0]->poll(0, record);
  EXPECT_EQ(one.send(9, 100, 0), Post::posted) << "when the receiver has told";
}

}  // namespace
}  // namespace weft::transport::net
