// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Numbers that peers send back find the object they were given to, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/object/handle_table.hpp"
#include "schedule.hpp"

namespace weft::core {
namespace {

TEST(HandleTable, FindsWhatWasAdded) {
  HandleTable<int> table;
  int objects[100];
  std::vector<uint64_t> numbers;
  for (int& object : objects) numbers.push_back(table.add(object));
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(table.find(numbers[i]), &objects[i]);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

TEST(HandleTable, ANumberThatWasNeverGivenFindsNothing) {
  HandleTable<int> table;
  EXPECT_EQ(table.find(HandleTable<int>::none), nullptr);
  int object = 0;
  const uint64_t number = table.add(object);
  EXPECT_NE(number, HandleTable<int>::none);
  EXPECT_EQ(table.find(HandleTable<int>::none), nullptr);
  EXPECT_EQ(table.find(number + 1), nullptr);                    // a free place
  EXPECT_EQ(table.find(number + 1000), nullptr);                 // out of range
  EXPECT_EQ(table.find(number | UINT32_MAX), nullptr);           // the end of the range
  EXPECT_EQ(table.find(number + (uint64_t{1} << 32)), nullptr);  // another generation
  EXPECT_EQ(table.remove(number + (uint64_t{1} << 32)), nullptr);
  EXPECT_EQ(table.find(number), &object);
}

TEST(HandleTable, AStaleNumberFindsNothing) {
  HandleTable<int> table;
  int first = 1;
  int second = 2;
  const uint64_t stale = table.add(first);
  EXPECT_EQ(table.remove(stale), &first);
  EXPECT_EQ(table.find(stale), nullptr);
  const uint64_t number = table.add(second);
  EXPECT_EQ(static_cast<uint32_t>(number), static_cast<uint32_t>(stale)) << "the place is used again";
  EXPECT_EQ(table.find(stale), nullptr);
  EXPECT_EQ(table.remove(stale), nullptr);
  EXPECT_EQ(table.find(number), &second);
}

TEST(HandleTable, KeepsApartWhatComesAndGoes) {
  HandleTable<int> table;
  test::Random random(7);
  std::map<uint64_t, int*> live;
  std::vector<uint64_t> gone;
  std::vector<int> objects(500);
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || (live.size() < objects.size() && random.below(2) == 0)) {
      int& object = objects[random.below(static_cast<uint32_t>(objects.size()))];
      const uint64_t number = table.add(object);
      ASSERT_TRUE(live.emplace(number, &object).second) << "a number that is in use was given again";
    } else {
      auto at = std::next(live.begin(), static_cast<ptrdiff_t>(random.below(static_cast<uint32_t>(live.size()))));
      ASSERT_EQ(table.remove(at->first), at->second);
      gone.push_back(at->first);
      live.erase(at);
    }
    if (gone.empty()) continue;
    ASSERT_EQ(table.find(gone[random.below(static_cast<uint32_t>(gone.size()))]), nullptr);
  }
  for (const auto& [number, object] : live) EXPECT_EQ(table.find(number), object);
}

}  // namespace
}  // namespace weft::core
