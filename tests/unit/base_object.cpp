// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/object.hpp"

namespace weft::base {
namespace {

struct Thing : Object {
  explicit Thing(int v) : value(v) { kind = Kind::group; }
  int value;
  char more[200] = {};
};

uintptr_t address_of(const void* p) {
  return reinterpret_cast<uintptr_t>(p);
}

// First, while nothing is handed out.
TEST(Arena, HoldsNothingBeforeTheFirstAllocation) {
  int on_stack = 0;
  uintptr_t line_of_stack = address_of(&on_stack) & ~uintptr_t{63};
  for (uintptr_t address : {uintptr_t{0}, uintptr_t{1}, uintptr_t{64}, line_of_stack, UINTPTR_MAX & ~uintptr_t{63}}) {
    EXPECT_FALSE(Arena::holds(address));
  }
}

TEST(Arena, HoldsWhatItHandedOutAndNothingElse) {
  Thing* thing = make_object<Thing>(7);
  ASSERT_NE(thing, nullptr);
  EXPECT_EQ(thing->value, 7);
  EXPECT_TRUE(Arena::holds(address_of(thing)));
  EXPECT_FALSE(Arena::holds(address_of(thing) + 8)) << "not at a line";
  int on_stack = 0;
  EXPECT_FALSE(Arena::holds(address_of(&on_stack) & ~uintptr_t{63}));
  EXPECT_FALSE(Arena::holds(0));
  EXPECT_FALSE(Arena::holds(0x44000000));
  EXPECT_FALSE(Arena::holds(address_of(thing) + (size_t{1} << 37)));
  destroy_object(thing);
}

TEST(Arena, AFreedObjectIsReadableAndFreeOnAllItsLines) {
  Thing* thing = make_object<Thing>(7);
  memset(thing->more, 0xff, sizeof thing->more);
  destroy_object(thing);
  for (size_t at = 0; at < sizeof(Thing); at += Arena::slot_align) {
    uintptr_t address = address_of(thing) + at;
    ASSERT_TRUE(Arena::holds(address));
    EXPECT_TRUE(*reinterpret_cast<volatile Kind*>(address) == Kind::free);
  }
}

TEST(Arena, FreedSlotsAreUsedAgainForTheSameSizeAndAreZero) {
  void* first = Arena::allocate(300);
  memset(first, 0xab, 300);
  Arena::release(first, 300);
  void* other_size = Arena::allocate(100);
  EXPECT_NE(other_size, first);
  void* again = Arena::allocate(257);  // the same multiple of 64
  EXPECT_EQ(again, first);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(static_cast<char*>(again)[i], 0) << i;
  Arena::release(again, 257);
  Arena::release(other_size, 100);
}

TEST(Arena, LargeObjectsAndImpossibleOnes) {
  for (size_t bytes : {size_t{4096}, size_t{4097}, size_t{100000}, size_t{5} << 20}) {
    auto* memory = static_cast<char*>(Arena::allocate(bytes));
    ASSERT_NE(memory, nullptr) << bytes;
    EXPECT_EQ(address_of(memory) % Arena::slot_align, 0u);
    memory[0] = 1;
    memory[bytes - 1] = 1;
    EXPECT_TRUE(Arena::holds(address_of(memory)));
    Arena::release(memory, bytes);
    EXPECT_EQ(Arena::allocate(bytes), memory);
    Arena::release(memory, bytes);
  }
  EXPECT_EQ(Arena::allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(Arena::allocate(size_t{1} << 40), nullptr);
}

TEST(Arena, ThreadsNeverGetTheSameSlot) {
  constexpr int threads = 4;
  constexpr int rounds = 3000;
  std::atomic<bool> clash{false};
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&clash, t] {
      std::vector<Thing*> mine;
      unsigned seed = static_cast<unsigned>(t) + 1;
      for (int i = 0; i < rounds; ++i) {
        seed = seed * 1103515245 + 12345;
        if (mine.empty() || (seed >> 16) % 3 != 0) {
          mine.push_back(make_object<Thing>(t));
        } else {
          Thing* thing = mine[(seed >> 18) % mine.size()];
          if (thing->value != t || !Arena::holds(address_of(thing))) clash = true;
          std::erase(mine, thing);
          destroy_object(thing);
        }
      }
      for (Thing* thing : mine) {
        if (thing->value != t) clash = true;
        destroy_object(thing);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_FALSE(clash);
}

}  // namespace
}  // namespace weft::base
