// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Stamps under a scheduler that permutes interleavings: of two sends of which one happens before the other, in one
// thread or across threads that synchronise, the first has the smaller stamp.
#include <gtest/gtest.h>

#include <atomic>

#include "core/thread/stamp.hpp"
#include "core/thread/thread.hpp"
#include "schedule.hpp"

namespace weft::core {
namespace {

using test::Memory;
using test::Schedule;

// One clock for all threads; it ticks faster than a thread sends.
uint64_t now = 0;
uint64_t tick() {
  Schedule::step();
  return now += 100;
}

struct StampPlay {
  StampSlot<test::Atomic> slot;
  uint64_t (*clock)();
  test::Atomic<uint32_t> turn{0};
  uint64_t largest = 0;  // of the sends that happened before
  bool right = true;

  void send(Thread& me, uint64_t& before) {
    const uint64_t stamp = slot.belongs_to(&me) ? slot.next_own() : slot.next_shared(me, clock);
    right = right && stamp > before;
    before = stamp;
  }
  // Sends of its own, then one more in its turn and, having passed the turn on, others that nobody waits for.
  void run(Thread& me, uint32_t number, uint32_t threads) {
    uint64_t before = 0;
    for (uint32_t round = 0; round < 3; ++round) {
      send(me, before);
      while (turn.load(std::memory_order_acquire) != round * threads + number) Schedule::yield();
      before = std::max(before, largest);
      send(me, before);
      largest = before;
      turn.store(round * threads + number + 1, std::memory_order_release);
    }
  }
};

void play_all(Memory memory) {
#ifdef WEFT_TSAN
  GTEST_SKIP() << "one real thread: nothing for the thread sanitizer, which does not follow its changes of stack";
#endif
  for (const bool trusted : {true, false}) {
    for (uint64_t seed = 0; seed < 2000; ++seed) {
      StampPlay play;
      play.clock = trusted ? tick : nullptr;
      Thread threads[3];
      Schedule schedule(seed, memory);
      for (uint32_t i = 0; i < 3; ++i) {
        schedule.add([&, i] { play.run(threads[i], i, 3); });
      }
      ASSERT_EQ(schedule.run(), Schedule::Result::finished) << seed;
      ASSERT_TRUE(play.right) << (trusted ? "clock, " : "counter, ") << seed;
    }
  }
}

TEST(Stamp, GrowsAlongHappensBefore) {
  play_all(Memory::sequential);
}
TEST(Stamp, GrowsAlongHappensBeforeWithStoreBuffers) {
  play_all(Memory::store_buffers);
}
TEST(Stamp, GrowsAlongHappensBeforeWithWeakMemory) {
  play_all(Memory::weak);
}

// Counts what takes a cache line from other threads.
int writes = 0;
template <class T>
struct Watched {
  std::atomic<T> value;
  Watched(T first) : value(first) {}
  T load(std::memory_order order) const { return value.load(order); }
  void store(T to, std::memory_order order) {
    ++writes;
    value.store(to, order);
  }
  bool compare_exchange_strong(T& from, T to, std::memory_order order) {
    ++writes;
    return value.compare_exchange_strong(from, to, order);
  }
  T fetch_add(T more, std::memory_order order) {
    ++writes;
    return value.fetch_add(more, order);
  }
};

TEST(Stamp, OfASlotThatThreadsShareIsNotWritten) {
  StampSlot<Watched> slot;
  Thread threads[3];
  const auto send_all = [&] {
    for (Thread& thread : threads) {
      if (!slot.belongs_to(&thread)) (void)slot.next_shared(thread, [] { return ++now; });
    }
  };
  send_all();
  EXPECT_GT(writes, 0) << "the first send owns it, the second shares it";
  writes = 0;
  send_all();
  EXPECT_EQ(writes, 0);
}

}  // namespace
}  // namespace weft::core
