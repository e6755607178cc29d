// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "topo/placement.hpp"

namespace weft::topo {
namespace {

using base::CpuSet;

BindingRequest request_of(const char* text) {
  BindingRequest request;
  EXPECT_EQ(parse_binding(text, request), "") << text;
  return request;
}

std::string shown(const Placement& placement) {
  std::string out;
  for (const CpuSet& set : placement.sets) out += (out.empty() ? "" : " ") + ("{" + base::shown_cpu_list(set) + "}");
  return out;
}

std::string placed(const char* machine, int ranks, const char* binding, const char* allowed = nullptr) {
  CpuSet set;
  if (allowed) {
    EXPECT_EQ(base::parse_cpu_list(allowed, set), "");
  }
  return shown(place(synthetic_machine(machine, set), ranks, request_of(binding)));
}

constexpr const char* two_by_four_by_two = "numa:2 core:4 pu:2";

TEST(Machine, IsReadFromHwloc) {
  Machine machine = synthetic_machine(two_by_four_by_two, {});
  EXPECT_EQ(machine.domains, 2);
  ASSERT_EQ(machine.cores.size(), 8u);
  EXPECT_EQ(machine.allowed.count(), 16);
  EXPECT_EQ(machine.cores[0].processors, (std::vector<int>{0, 1}));
  EXPECT_EQ(machine.cores[4].domain, 1);
}

TEST(Machine, OnlyWhatIsAllowedCounts) {
  CpuSet allowed;
  ASSERT_EQ(base::parse_cpu_list("9,10-13", allowed), "");
  Machine machine = synthetic_machine(two_by_four_by_two, allowed);
  EXPECT_EQ(machine.domains, 1) << "the other domain has nothing of ours";
  ASSERT_EQ(machine.cores.size(), 3u);
  EXPECT_EQ(machine.cores[0].processors, (std::vector<int>{9}));
}

TEST(Machine, ThisOneHasWhatWeMayUse) {
  Machine machine = this_machine();
  EXPECT_GE(machine.cores.size(), 1u);
  EXPECT_EQ(machine.allowed, base::affinity());
}

TEST(PlaceCore, EqualSharesOfWholeCoresSpreadOverTheDomains) {
  EXPECT_EQ(placed(two_by_four_by_two, 1, "core"), "{0-15}");
  EXPECT_EQ(placed(two_by_four_by_two, 2, "core"), "{0-7} {8-15}");
  EXPECT_EQ(placed(two_by_four_by_two, 3, "core"), "{0-3} {4-7} {8-11}");
  EXPECT_EQ(placed(two_by_four_by_two, 4, "core"), "{0-3} {4-7} {8-11} {12-15}");
  EXPECT_EQ(placed(two_by_four_by_two, 8, "core"), "{0,1} {2,3} {4,5} {6,7} {8,9} {10,11} {12,13} {14,15}");
}

TEST(PlaceCore, WithFewerRanksThanDomainsEachGetsWholeDomains) {
  EXPECT_EQ(placed("numa:4 core:2 pu:1", 2, "core"), "{0-3} {4-7}");
  EXPECT_EQ(placed("numa:4 core:2 pu:1", 3, "core"), "{0,1} {2,3} {4-7}");
}

TEST(PlaceCore, MoreRanksThanCoresGetHardwareThreads) {
  EXPECT_EQ(placed("numa:1 core:2 pu:2", 4, "core"), "{0} {1} {2} {3}");
  EXPECT_EQ(placed("numa:1 core:2 pu:2", 3, "core"), "{0} {1} {2}");
}

TEST(PlaceCore, MoreRanksThanProcessorsStayUnbound) {
  Placement placement = place(synthetic_machine("numa:1 core:2 pu:2", {}), 5, {});
  EXPECT_EQ(shown(placement), "{} {} {} {} {}");
  EXPECT_TRUE(placement.crowded);
  EXPECT_EQ(placement.cpus, 4);
  EXPECT_EQ(placement.cores, 2);
}

TEST(PlaceCore, AQuotaOfTheControlGroupsCountsAsProcessors) {
  Machine machine = synthetic_machine(two_by_four_by_two, {});
  machine.quota = 3;
  Placement placement = place(machine, 4, {});
  EXPECT_TRUE(placement.crowded);
  EXPECT_EQ(placement.cpus, 3);
  EXPECT_FALSE(place(machine, 3, {}).crowded);
}

TEST(PlaceCore, UnevenDomainsGetRanksInProportion) {
  // 6 of 8 cores: four in the first domain, two in the second.
  EXPECT_EQ(placed("numa:2 core:4 pu:1", 3, "core", "0-3,4,5"), "{0,1} {2,3} {4,5}");
  EXPECT_EQ(placed("numa:2 core:4 pu:1", 6, "core", "0-3,4,5"), "{0} {1} {2} {3} {4} {5}");
}

// Invariants for every machine, number of ranks and allowed set.
TEST(PlaceCore, SharesAreDisjointEqualAndAllowed) {
  for (const char* description : {"numa:1 core:1 pu:1", "numa:1 core:7 pu:1", two_by_four_by_two, "numa:3 core:5 pu:2",
                                  "package:2 numa:2 core:6 pu:2", "numa:8 core:1 pu:4"}) {
    for (unsigned drop = 0; drop < 8; ++drop) {
      Machine whole = synthetic_machine(description, {});
      CpuSet allowed;
      for (int cpu = 0; cpu < CpuSet::capacity; ++cpu) {
        if (whole.allowed.has(cpu) && (drop == 0 || static_cast<unsigned>(cpu * 7) % 9 != drop)) allowed.add(cpu);
      }
      if (allowed.empty()) continue;
      Machine machine = synthetic_machine(description, allowed);
      ASSERT_EQ(machine.allowed, allowed);
      for (int ranks = 1; ranks <= allowed.count() + 2; ++ranks) {
        Placement placement = place(machine, ranks, {});
        ASSERT_EQ(placement.sets.size(), static_cast<size_t>(ranks));
        if (ranks > allowed.count()) {
          EXPECT_TRUE(placement.crowded);
          for (const CpuSet& set : placement.sets) EXPECT_TRUE(set.empty());
          continue;
        }
        EXPECT_FALSE(placement.crowded);
        CpuSet seen;
        for (const CpuSet& set : placement.sets) {
          EXPECT_FALSE(set.empty()) << description << " drop " << drop << " ranks " << ranks;
          EXPECT_TRUE(set.both(seen).empty()) << description << " drop " << drop << " ranks " << ranks;
          EXPECT_EQ(set.both(allowed), set);
          seen.add(set);
        }
      }
    }
  }
}

TEST(PlaceNuma, RanksOfADomainShareIt) {
  EXPECT_EQ(placed(two_by_four_by_two, 1, "numa"), "{0-7}");
  EXPECT_EQ(placed(two_by_four_by_two, 2, "numa"), "{0-7} {8-15}");
  EXPECT_EQ(placed(two_by_four_by_two, 4, "numa"), "{0-7} {0-7} {8-15} {8-15}");
}

TEST(PlaceNone, LeavesRanksUnbound) {
  EXPECT_EQ(placed(two_by_four_by_two, 2, "none"), "{} {}");
}

TEST(PlaceList, SetsGoToRanksInTurn) {
  EXPECT_EQ(placed(two_by_four_by_two, 2, "0-3,8:4-7"), "{0-3,8} {4-7}");
  EXPECT_EQ(placed(two_by_four_by_two, 3, "0:1"), "{0} {1} {0}");
  Placement placement = place(synthetic_machine(two_by_four_by_two, {}), 3, request_of("0:1"));
  EXPECT_TRUE(placement.crowded);
}

TEST(PlaceList, AProcessorThatIsNotOursIsRefusedByName) {
  CpuSet allowed;
  ASSERT_EQ(base::parse_cpu_list("0-3", allowed), "");
  Placement placement = place(synthetic_machine(two_by_four_by_two, allowed), 1, request_of("3,4"));
  EXPECT_NE(placement.wrong.find("3,4"), std::string::npos);
  EXPECT_NE(placement.wrong.find("0-3"), std::string::npos);
}

TEST(ParseBinding, RefusesWhatItDoesNotKnow) {
  BindingRequest request;
  for (const char* text : {"", "cores", "0-", ":", "0:", ":0", "0::1", "0;1", "-1", "none,core"}) {
    EXPECT_NE(parse_binding(text, request), "") << text;
  }
  EXPECT_NE(parse_binding(std::string(2000000, '1'), request), "");
}

}  // namespace
}  // namespace weft::topo
