// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include "topo/apart.hpp"
#include "topo/layout.hpp"
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

TEST(PlaceCore, MoreRanksThanProcessorsGetOneInTurnInTheirDomain) {
  EXPECT_EQ(placed("numa:2 core:2 pu:1", 8, "core"), "{0} {1} {0} {1} {2} {3} {2} {3}");
  EXPECT_EQ(placed("numa:2 core:2 pu:1", 5, "core"), "{0} {1} {0} {2} {3}");
  EXPECT_EQ(placed("numa:2 core:4 pu:1", 7, "core", "0-3,4,5"), "{0} {1} {2} {3} {0} {4} {5}");
  Placement placement = place(synthetic_machine("numa:1 core:2 pu:2", {}), 5, {});
  EXPECT_EQ(shown(placement), "{0} {1} {2} {3} {0}");
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
          for (const CpuSet& set : placement.sets) EXPECT_EQ(set.count(), 1);
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

std::string threaded(const char* machine, int ranks, int threads, Places expected, Binding binding = Binding::core) {
  Placement placement = place(synthetic_machine(machine, {}), ranks, {.binding = binding, .threads = threads});
  EXPECT_EQ(placement.places, expected) << machine << " ranks " << ranks << " threads " << threads;
  return shown(placement);
}

std::string packed(const char* machine, int ranks, int threads, Places expected = Places::cores) {
  return threaded(machine, ranks, threads, expected, Binding::pack);
}

TEST(PlaceThreads, PackedThreadsOfARankShareACacheWhereOneHasTheCores) {
  constexpr const char* two_caches = "numa:1 l3:2 core:3 pu:1";
  EXPECT_EQ(packed(two_caches, 2, 2), "{0,1} {3,4}");
  EXPECT_EQ(packed(two_caches, 3, 2), "{0,1} {2,3} {4,5}") << "the domain, where caches do not suffice";
  EXPECT_EQ(packed(two_caches, 1, 2), "{0,1}");
  EXPECT_EQ(packed(two_caches, 1, 5), "{0-4}");
  EXPECT_EQ(packed(two_by_four_by_two, 1, 4), "{0-7}");
  EXPECT_EQ(packed(two_by_four_by_two, 2, 2), "{0-3} {8-11}") << "ranks are spread over domains all the same";
}

TEST(PlaceThreads, FewThreadsReachEveryDomainCacheAndPairOfCores) {
  constexpr const char* sub_numa = "package:2 numa:2 l3:2 core:4 pu:2";  // 32 cores, 64 processors
  EXPECT_EQ(threaded(sub_numa, 1, 2, Places::cores), "{0,1,32,33}") << "one in each package";
  EXPECT_EQ(threaded(sub_numa, 1, 4, Places::cores), "{0,1,16,17,32,33,48,49}") << "one in each domain";
  EXPECT_EQ(threaded(sub_numa, 2, 1, Places::cores), "{0,1} {32,33}");
  EXPECT_EQ(threaded(sub_numa, 2, 2, Places::cores), "{0,1,16,17} {32,33,48,49}");
  EXPECT_EQ(threaded(sub_numa, 4, 2, Places::cores), "{0,1,8,9} {16,17,24,25} {32,33,40,41} {48,49,56,57}")
      << "a rank for each domain, a thread for each cache";
  EXPECT_EQ(threaded("numa:1 l2:4 core:2 pu:4", 1, 4, Places::cores), "{0-3,8-11,16-19,24-27}") << "a tile for each";
  EXPECT_EQ(threaded(two_by_four_by_two, 3, 1, Places::cores), "{0,1} {4,5} {8,9}");
}

// A domain's bandwidth is shared by the threads on it, so none has two more than another, nor has a cache.
TEST(PlaceThreads, OfARankTheyAreSpreadEvenlyOverDomainsAndCaches) {
  const Machine machine = synthetic_machine("numa:4 l3:3 core:5 pu:1", {});
  for (int threads = 1; threads <= 60; ++threads) {
    const Placement placement = place(machine, 1, {.threads = threads});
    std::vector<int> in_domain(4);
    std::vector<int> in_cache(12);
    for (const Core& core : machine.cores) {
      if (!placement.sets[0].has(core.processors[0])) continue;
      ++in_domain[static_cast<size_t>(core.domain)];
      ++in_cache[static_cast<size_t>(core.cache)];
    }
    for (const std::vector<int>& counts : {in_domain, in_cache}) {
      const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
      EXPECT_LE(*most - *least, 1) << threads << " threads";
    }
  }
}

TEST(PlaceThreads, RanksStayInADomainAndEachHasItsThreads) {
  EXPECT_EQ(threaded(two_by_four_by_two, 2, 2, Places::cores), "{0,1,4,5} {8,9,12,13}");
  EXPECT_EQ(threaded(two_by_four_by_two, 2, 3, Places::cores), "{0-5} {8-13}");
  EXPECT_EQ(threaded("numa:1 l3:2 core:4 pu:1", 3, 2, Places::cores), "{0,1} {2,3} {5,6}");
  EXPECT_EQ(threaded("numa:2 core:3 pu:1", 3, 2, Places::cores), "{0,1} {2,3} {4,5}") << "none can: over all";
}

TEST(PlaceThreads, WithoutEnoughCoresTheyGetHardwareThreadsThenShares) {
  EXPECT_EQ(threaded("numa:1 core:2 pu:2", 2, 2, Places::threads), "{0,1} {2,3}");
  EXPECT_EQ(threaded("numa:1 core:2 pu:2", 2, 3, Places::unsaid), "{0,1} {2,3}");
  EXPECT_EQ(threaded("numa:1 core:2 pu:1", 3, 2, Places::unsaid), "{0} {1} {0}");
  EXPECT_EQ(threaded("numa:1 core:4 pu:2", 1, 5, Places::threads), "{0,1,3,4,6}") << "all cores have one";
  EXPECT_EQ(packed("numa:1 core:4 pu:2", 1, 5, Places::threads), "{0-4}");
}

TEST(PlaceThreads, OtherBindingsTakeNoNoticeOfThem) {
  Placement placement = place(synthetic_machine(two_by_four_by_two, {}), 2, {.binding = Binding::numa, .threads = 2});
  EXPECT_EQ(shown(placement), "{0-7} {8-15}");
  EXPECT_EQ(placement.places, Places::unsaid);
}

// Invariants for every machine, number of ranks and of threads.
void expect_disjoint_shares(const char* description, Binding binding) {
  const Machine machine = synthetic_machine(description, {});
  const int processors = machine.allowed.count();
  const int siblings = static_cast<int>(machine.cores[0].processors.size());
  for (int threads = 1; threads <= processors; ++threads) {
    for (int ranks = 1; ranks * threads <= processors; ++ranks) {
      const Placement placement = place(machine, ranks, {.binding = binding, .threads = threads});
      ASSERT_NE(placement.places, Places::unsaid);
      CpuSet seen;
      for (const CpuSet& set : placement.sets) {
        EXPECT_EQ(set.count(), placement.places == Places::cores ? threads * siblings : threads);
        EXPECT_TRUE(set.both(seen).empty()) << description << " ranks " << ranks << " threads " << threads;
        seen.add(set);
      }
    }
  }
}

TEST(PlaceThreads, SharesAreDisjointAndOfTheWishedSize) {
  for (const char* description :
       {"numa:1 core:7 pu:1", two_by_four_by_two, "numa:3 l3:2 core:5 pu:2", "package:2 numa:2 l3:3 core:2 pu:2"}) {
    for (const Binding binding : {Binding::core, Binding::pack}) expect_disjoint_shares(description, binding);
  }
}

TEST(Reserve, TheLastCoresOfTheLargestDomainsStayFree) {
  const auto reserved = [](const char* machine, int cores) {
    return base::shown_cpu_list(place(synthetic_machine(machine, {}), 1, {.reserve = cores}).reserved);
  };
  EXPECT_EQ(reserved(two_by_four_by_two, 1), "14,15");
  EXPECT_EQ(reserved(two_by_four_by_two, 2), "6,7,14,15");
  EXPECT_EQ(reserved(two_by_four_by_two, 3), "6,7,12-15");
  EXPECT_EQ(reserved("numa:3 core:1 pu:1", 2), "1,2");
}

TEST(Reserve, RanksShareTheRestWhateverTheBinding) {
  const Machine machine = synthetic_machine("numa:2 core:3 pu:1", {});
  EXPECT_EQ(shown(place(machine, 2, {.reserve = 2})), "{0,1} {3,4}");
  EXPECT_EQ(shown(place(machine, 2, {.threads = 2, .reserve = 1})), "{0,1} {3,4}");
  EXPECT_EQ(shown(place(machine, 2, {.binding = Binding::none, .reserve = 2})), "{0,1,3,4} {0,1,3,4}");
  EXPECT_EQ(shown(place(machine, 2, {.binding = Binding::numa, .reserve = 2})), "{0,1} {3,4}");
  EXPECT_EQ(shown(place(synthetic_machine("numa:4 core:1 pu:1", {}), 2, {.reserve = 2})), "{0} {1}");
  EXPECT_FALSE(place(machine, 4, {.reserve = 2}).crowded);
  EXPECT_TRUE(place(machine, 5, {.reserve = 2}).crowded);
  BindingRequest listed = request_of("0:5");
  listed.reserve = 1;
  EXPECT_NE(place(machine, 2, listed).wrong, "");
  EXPECT_NE(place(machine, 2, {.reserve = 6}).wrong, "");
}

TEST(Reserve, ServiceThreadsOfARankAreInItsDomainWhereACoreIs) {
  const Machine machine = synthetic_machine("numa:2 core:3 pu:1", {});
  Placement placement = place(machine, 2, {.reserve = 2});
  EXPECT_EQ(base::shown_cpu_list(service_set(machine, placement, 0)), "2");
  EXPECT_EQ(base::shown_cpu_list(service_set(machine, placement, 1)), "5");
  placement = place(machine, 2, {.reserve = 1});
  EXPECT_EQ(base::shown_cpu_list(service_set(machine, placement, 0)), "5");
}

TEST(Layout, IsATableAndAPicture) {
  const Machine machine = synthetic_machine("numa:2 l3:1 core:2 pu:2", {});
  EXPECT_EQ(shown_layout(machine, place(machine, 2, {.threads = 1})),
            "rank  cores  domain  cache  processors\n"
            "   0      1       0      0  0,1\n"
            "   1      1       1      1  4,5\n"
            "\n"
            "domain 0 cache 0 [0 0][. .]\n"
            "domain 1 cache 1 [1 1][. .]\n"
            "\n"
            "[ ] is a core with the rank of each of its processors; + further ranks, . none\n");
  EXPECT_NE(shown_layout(machine, place(machine, 2, {.binding = Binding::none}))
                .find("   1      -       -      -  not bound\n"),
            std::string::npos);
}

TEST(Layout, StaysWithinAHundredColumns) {
  const Machine machine = synthetic_machine("numa:1 core:200 pu:2", {});
  const std::string shown_text = shown_layout(machine, place(machine, 200, {}));
  for (size_t at = 0; at < shown_text.size();) {
    const size_t end = shown_text.find('\n', at);
    EXPECT_LE(end - at, 100u);
    at = end + 1;
  }
  EXPECT_NE(shown_text.find("[199 199]"), std::string::npos);
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

TEST(ParseBinding, LeavesThreadsAndReservedCoresAsTheyAre) {
  BindingRequest request{.threads = 3, .reserve = 1};
  EXPECT_EQ(parse_binding("0:1", request), "");
  EXPECT_EQ(parse_binding("pack", request), "");
  EXPECT_EQ(request.binding, Binding::pack);
  EXPECT_EQ(request.threads, 3);
  EXPECT_EQ(request.reserve, 1);
  EXPECT_TRUE(request.sets.empty());
}

TEST(ParseBinding, RefusesWhatItDoesNotKnow) {
  BindingRequest request;
  for (const char* text : {"", "cores", "0-", ":", "0:", ":0", "0::1", "0;1", "-1", "none,core"}) {
    EXPECT_NE(parse_binding(text, request), "") << text;
  }
  EXPECT_NE(parse_binding(std::string(2000000, '1'), request), "");
}

TEST(Apart, AParserThatDoesNotEndIsEnded) {
  Facts facts;
  const auto never = [](Facts&) {
    for (;;) pause();
  };
  EXPECT_EQ(find_apart(never, facts, 1), "hwloc was not done with it after 1 s");
  EXPECT_TRUE(facts.is_at_end());
}

}  // namespace
}  // namespace weft::topo
