// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The claim slot of a shared copy under a scheduler that permutes interleavings: each chunk is copied once, by
// whichever side took it, and the side that copied the last one sees all of them.
#include <gtest/gtest.h>

#include "schedule.hpp"
#include "transport/api/claim.hpp"

namespace weft::transport {
namespace {

using test::Memory;
using test::Schedule;

constexpr uint32_t chunks = 3;
constexpr uint64_t transfers = 3;  // through one slot; help may come when its transfer is over

struct Transfer {
  test::Atomic<uint32_t> help{0};  // its generation, when the receiver has asked for help
  test::Atomic<uint32_t> told{0};  // by the sender that copied the last chunk
  test::Atomic<uint32_t> data[chunks]{};
  int copies[chunks] = {};
};

struct Play {
  ClaimOf<test::Atomic> claim;
  Transfer transfer[transfers];
  bool right = true;

  // Takes and copies chunks until there are none; whether it copied the last of all.
  bool copy(Transfer& t, uint32_t generation) {
    uint32_t i;
    while (claim.take(generation, chunks, &i)) {
      right = right && i < chunks;
      ++t.copies[i];
      t.data[i].store(generation, std::memory_order_relaxed);
      if (claim.put_down(chunks)) return true;
    }
    return false;
  }
  void receive() {
    for (Transfer& t : transfer) {
      const uint32_t generation = claim.begin();
      t.help.store(generation, std::memory_order_release);
      if (!copy(t, generation)) {
        while (t.told.load(std::memory_order_acquire) == 0) Schedule::yield();
      }
      claim.end(generation);
      for (uint32_t i = 0; i < chunks; ++i) {
        right = right && t.copies[i] == 1 && t.data[i].load(std::memory_order_relaxed) == generation;
      }
    }
  }
  void help() {
    for (Transfer& t : transfer) {
      uint32_t generation;
      while ((generation = t.help.load(std::memory_order_acquire)) == 0) Schedule::yield();
      if (copy(t, generation)) t.told.store(1, std::memory_order_release);
    }
  }
};

void play_all(Memory memory) {
#ifdef WEFT_TSAN
  GTEST_SKIP() << "one real thread: nothing for the thread sanitizer, which does not follow its changes of stack";
#endif
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Play play;
    Schedule schedule(seed, memory);
    schedule.add([&] { play.receive(); });
    schedule.add([&] { play.help(); });
    ASSERT_EQ(schedule.run(), Schedule::Result::finished) << seed;
    ASSERT_TRUE(play.right) << seed;
  }
}

TEST(Claim, EachChunkIsCopiedOnceAndSeen) {
  play_all(Memory::sequential);
}
TEST(Claim, EachChunkIsCopiedOnceAndSeenWithStoreBuffers) {
  play_all(Memory::store_buffers);
}
TEST(Claim, EachChunkIsCopiedOnceAndSeenWithWeakMemory) {
  play_all(Memory::weak);
}

}  // namespace
}  // namespace weft::transport
