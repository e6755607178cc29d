// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Kinds of memory on machines that hwloc has written down, and what is asked of the kernel there.
#include <gtest/gtest.h>

#include "pages/plan.hpp"
#include "pages/wish.hpp"
#include "topo/memory.hpp"

using namespace weft;
using pages::Affinity;
using pages::Grant;
using pages::Plan;
using pages::Policy;
using pages::PolicyMode;
using pages::Wish;

namespace {

const std::string folder = TOPOLOGIES;

base::CpuSet set(std::initializer_list<int> numbers) {
  base::CpuSet out;
  for (int number : numbers) out.add(number);
  return out;
}

std::vector<pages::Node> nodes_of_file(const std::string& name) {
  std::string crash;
  std::vector<pages::Node> nodes = topo::memory_nodes_of_file(folder + "/" + name, crash);
  EXPECT_EQ(crash, "");
  return nodes;
}

// A machine with the nodes of a file, which remembers what it was asked for.
struct Machine final : pages::System {
  explicit Machine(const char* file) : list(nodes_of_file(file)) {}
  std::vector<pages::Node> nodes(std::string&) override { return list; }
  pages::Sizes sizes() override { return pages_there; }
  base::CpuSet cpus() override { return processors; }
  int bind(void*, size_t, PolicyMode mode, const base::CpuSet& nodes) override {
    asked = mode;
    bound = nodes;
    return refusal;
  }
  int welcome_huge(void*, size_t) override { return ++welcomed, 0; }

  std::vector<pages::Node> list;
  pages::Sizes pages_there;
  base::CpuSet processors = set({0, 1});
  PolicyMode asked = PolicyMode::reset;
  base::CpuSet bound;
  int refusal = 0;
  int welcomed = 0;
};

// The whole way to memory, as a transport goes it.
bool get(Machine& machine, const Wish& wish, Grant& grant, uint64_t bytes = 1 << 20) {
  Plan plan;
  return make_plan(wish, bytes, machine, plan, grant) && carry_out(wish, plan, &grant, bytes, machine, grant);
}

TEST(Kinds, AreToldByBandwidth) {
  EXPECT_EQ(pages::shown_kinds(nodes_of_file("two_packages_hbm.xml")), "0=DDR,1=HBM,2=DDR,3=HBM");
  EXPECT_EQ(pages::shown_kinds(nodes_of_file("cxl.xml")), "0=DDR,1=other");
  EXPECT_TRUE(nodes_of_file("nowhere.xml").empty());
}

TEST(Kinds, OfOneNodeWithoutBandwidthAreDdr) {
  std::vector<pages::Node> nodes(2);
  nodes[0].cpus = set({0});
  nodes[1].number = 1;
  pages::tell_kinds(nodes);
  EXPECT_EQ(pages::shown_kinds(nodes), "0=DDR,1=other");
  EXPECT_EQ(pages::take_kinds("1=hbm", nodes), "");
  EXPECT_EQ(pages::shown_kinds(nodes), "0=DDR,1=HBM");
  for (const char* wrong : {"1", "=DDR", "1=", "1=tape", "2=DDR", "x=DDR", "0=DDR,,1=HBM", "-1=DDR"})
    EXPECT_NE(pages::take_kinds(wrong, nodes), "") << wrong;
  EXPECT_EQ(pages::shown_kinds(nodes), "0=DDR,1=HBM");
}

TEST(Affinity, TakesTheNearestNodesOfItsKind) {
  Machine machine("two_packages_hbm.xml");
  Grant grant;
  ASSERT_TRUE(get(machine, {.affinity = Affinity::hbm}, grant)) << grant.problem;
  EXPECT_EQ(machine.asked, PolicyMode::prefer);
  EXPECT_EQ(machine.bound, set({1}));
  EXPECT_EQ(grant.nodes, set({1}));
  EXPECT_EQ(grant.fallback, "");
  machine.processors = set({2});
  ASSERT_TRUE(get(machine, {.affinity = Affinity::hbm, .policy = Policy::mandatory}, grant));
  EXPECT_EQ(machine.asked, PolicyMode::bind);
  EXPECT_EQ(machine.bound, set({3}));
  machine.processors = set({0, 1, 2, 3});
  ASSERT_TRUE(get(machine, {.affinity = Affinity::ddr}, grant));
  EXPECT_EQ(machine.bound, set({0, 2}));
  ASSERT_TRUE(get(machine, {.affinity = Affinity::node, .node = 3}, grant));
  EXPECT_EQ(machine.bound, set({3}));
}

TEST(Affinity, InterleavesOverAllNodesOfItsKind) {
  Machine machine("two_packages_hbm.xml");
  Grant grant;
  ASSERT_TRUE(get(machine, {.affinity = Affinity::hbm, .policy = Policy::interleave}, grant));
  EXPECT_EQ(machine.asked, PolicyMode::interleave);
  EXPECT_EQ(machine.bound, set({1, 3}));
  ASSERT_TRUE(get(machine, {.policy = Policy::interleave}, grant));
  EXPECT_EQ(machine.bound, set({0, 1, 2, 3}));
  machine.list[3].allowed = false;
  ASSERT_TRUE(get(machine, {.policy = Policy::interleave}, grant));
  EXPECT_EQ(machine.bound, set({0, 1, 2}));
}

TEST(Affinity, AskingNothingTouchesNothing) {
  Machine machine("two_packages_hbm.xml");
  machine.refusal = EPERM;
  Grant grant;
  ASSERT_TRUE(get(machine, {}, grant));
  EXPECT_EQ(machine.welcomed, 0);
  EXPECT_EQ(grant.fallback, "");
  EXPECT_TRUE(grant.nodes.empty());
}

TEST(Policy, MandatoryFailsWithCauseAndRemedyAndPreferredSaysSo) {
  Machine machine("cxl.xml");
  Grant grant;
  EXPECT_FALSE(get(machine, {.affinity = Affinity::hbm, .policy = Policy::mandatory}, grant));
  EXPECT_NE(grant.problem.find("no HBM memory"), std::string::npos) << grant.problem;
  EXPECT_NE(grant.problem.find("0=DDR,1=other"), std::string::npos) << grant.problem;
  EXPECT_NE(grant.problem.find("Mandatory"), std::string::npos) << grant.problem;
  for (const Policy policy : {Policy::preferred, Policy::interleave}) {
    Grant got;
    ASSERT_TRUE(get(machine, {.affinity = Affinity::hbm, .policy = policy}, got));
    EXPECT_NE(got.fallback.find("no HBM memory"), std::string::npos) << got.fallback;
    EXPECT_EQ(got.affinity, Affinity::system);
    EXPECT_TRUE(got.nodes.empty());
  }
}

TEST(Policy, MandatoryFailsWhenTheNodesAreFull) {
  Machine machine("two_packages_hbm.xml");
  machine.list[1].free = 1 << 19;
  Grant grant;
  EXPECT_FALSE(get(machine, {.affinity = Affinity::hbm, .policy = Policy::mandatory}, grant));
  EXPECT_NE(grant.problem.find("512.0 KiB free"), std::string::npos) << grant.problem;
  Grant got;
  EXPECT_TRUE(get(machine, {.affinity = Affinity::hbm}, got));
}

TEST(Policy, ARefusalOfTheKernelIsAnErrorOrAFallback) {
  Machine machine("two_packages_hbm.xml");
  machine.refusal = EPERM;
  Grant grant;
  EXPECT_FALSE(get(machine, {.affinity = Affinity::ddr, .policy = Policy::mandatory}, grant));
  EXPECT_NE(grant.problem.find("mbind"), std::string::npos) << grant.problem;
  Grant got;
  EXPECT_TRUE(get(machine, {.affinity = Affinity::ddr}, got));
  EXPECT_NE(got.fallback.find("mbind"), std::string::npos) << got.fallback;
  EXPECT_TRUE(got.nodes.empty());
}

constexpr size_t mib = size_t{1} << 20;

TEST(Pages, AreBackedByTheLargestThatDivideTheWish) {
  Machine machine("cxl.xml");
  machine.pages_there.huge = {{.bytes = 2 * mib, .total = 600, .free = 600},
                              {.bytes = 1024 * mib, .total = 1, .free = 1}};
  const struct {
    size_t wished, backed;
  } rows[] = {{2 * mib, 2 * mib}, {4 * mib, 2 * mib}, {512 * mib, 2 * mib}, {1024 * mib, 1024 * mib}};
  for (const auto& row : rows) {
    Plan plan;
    Grant grant;
    ASSERT_TRUE(make_plan({.page = row.wished}, 512 * mib, machine, plan, grant));
    EXPECT_EQ(plan.huge, row.backed);
    EXPECT_EQ(grant.page, row.backed);
    EXPECT_EQ(grant.aligned, row.wished);
    EXPECT_FALSE(grant.transparent);
    EXPECT_EQ(grant.fallback, "");
  }
}

TEST(Pages, AreTransparentWhereNoneAreSetAside) {
  Machine machine("cxl.xml");
  machine.pages_there = {.huge = {{.bytes = 2 * mib, .free = 3}}, .shared_mode = "advise", .transparent = 2 * mib};
  Grant grant;
  ASSERT_TRUE(get(machine, {.page = 4 * mib}, grant, 8 * mib));
  EXPECT_EQ(machine.welcomed, 1);
  EXPECT_TRUE(grant.transparent);
  EXPECT_EQ(grant.page, 2 * mib);
  EXPECT_EQ(grant.aligned, 4 * mib);
  EXPECT_NE(grant.fallback.find("4 huge pages of 2M are needed and 3 are free"), std::string::npos) << grant.fallback;
  machine.pages_there.shared_mode = "never";
  Grant small;
  ASSERT_TRUE(get(machine, {.page = 4 * mib}, small, 8 * mib));
  EXPECT_FALSE(small.transparent);
  EXPECT_EQ(small.page, pages::base_page);
  EXPECT_EQ(small.aligned, 4 * mib);
  Grant none;
  EXPECT_FALSE(get(machine, {.policy = Policy::mandatory, .page = 4 * mib}, none, 8 * mib));
  EXPECT_NE(none.problem.find("nr_hugepages"), std::string::npos) << none.problem;
}

// The kernel reserves explicit huge pages of the system and takes those of a binding from its nodes: a page that is
// free elsewhere would kill the process when it touches the memory.
TEST(Pages, OfABindingAreThoseOfItsNodes) {
  Machine machine("two_packages_hbm.xml");
  machine.pages_there.huge = {{.bytes = 2 * mib, .total = 20, .free = 20, .more = 100}};
  machine.list[0].huge = {{.bytes = 2 * mib, .free = 17}, {.bytes = 1024 * mib, .free = 1}};
  machine.list[1].huge = {{.bytes = 2 * mib, .free = 3}, {.bytes = 1024 * mib, .free = 50}};
  const Wish bound{.affinity = Affinity::hbm, .policy = Policy::mandatory, .page = 2 * mib};
  Grant three, four, reserved, elsewhere;
  ASSERT_TRUE(get(machine, bound, three, 6 * mib)) << three.problem;
  EXPECT_EQ(machine.asked, PolicyMode::bind);
  EXPECT_EQ(three.page, 2 * mib);
  EXPECT_FALSE(get(machine, bound, four, 8 * mib));
  EXPECT_NE(four.problem.find("4 huge pages of 2M are needed and 3 are free in HBM memory"), std::string::npos)
      << four.problem;
  machine.pages_there.huge[0].reserved = 1;  // of which node, is not known
  EXPECT_FALSE(get(machine, bound, reserved, 6 * mib));
  Plan plan;
  ASSERT_TRUE(make_plan({.affinity = Affinity::hbm, .page = 2 * mib}, 8 * mib, machine, plan, elsewhere));
  EXPECT_EQ(plan.huge, 2 * mib);
  EXPECT_EQ(elsewhere.fallback, "");
}

// Memory that is set aside for huge pages is no free memory of its node.
TEST(Pages, ThatAreHugeNeedNoOtherFreeMemory) {
  Machine machine("two_packages_hbm.xml");
  machine.pages_there.huge = {{.bytes = 2 * mib, .total = 20, .free = 20}};
  machine.list[1].huge = machine.pages_there.huge;
  machine.list[1].free = mib;
  Grant huge, small;
  EXPECT_TRUE(get(machine, {.affinity = Affinity::hbm, .policy = Policy::mandatory, .page = 2 * mib}, huge, 6 * mib))
      << huge.problem;
  EXPECT_FALSE(get(machine, {.affinity = Affinity::hbm, .policy = Policy::mandatory}, small, 6 * mib));
}

TEST(Affinity, ThatIsPreferredSaysWhenItsNodesAreFull) {
  Machine machine("two_packages_hbm.xml");
  machine.list[1].free = 3 * mib;
  Grant fits, spills;
  ASSERT_TRUE(get(machine, {.affinity = Affinity::hbm}, fits, 3 * mib));
  EXPECT_EQ(fits.fallback, "");
  ASSERT_TRUE(get(machine, {.affinity = Affinity::hbm}, spills, 4 * mib));
  EXPECT_EQ(machine.asked, PolicyMode::prefer);
  EXPECT_EQ(spills.affinity, Affinity::hbm);
  EXPECT_NE(spills.fallback.find("HBM memory has 3.0 MiB free of the 4.0 MiB asked for"), std::string::npos)
      << spills.fallback;
}

TEST(Wish, IsReadAsPeopleWriteIt) {
  Wish wish;
  EXPECT_EQ(pages::parse_affinity("hbm", wish) + pages::parse_policy("M", wish) + pages::parse_page("512M", wish), "");
  EXPECT_EQ(wish.affinity, Affinity::hbm);
  EXPECT_EQ(wish.policy, Policy::mandatory);
  EXPECT_EQ(wish.page, 512 * mib);
  EXPECT_EQ(
      pages::parse_affinity("MCDRAM", wish) + pages::parse_policy("PREFERRED", wish) + pages::parse_page("1G", wish),
      "");
  EXPECT_EQ(pages::parse_affinity("17", wish) + pages::parse_policy("i", wish) + pages::parse_page("4096", wish), "");
  EXPECT_EQ(wish.node, 17);
  EXPECT_EQ(wish.page, 4096u);
  for (const char* wrong : {"", "HB", "-1", "4096", "1.5", "DDR4"})
    EXPECT_NE(pages::parse_affinity(wrong, wish), "") << wrong;
  for (const char* wrong : {"", "pre", "x", "MandatoryX"}) EXPECT_NE(pages::parse_policy(wrong, wish), "") << wrong;
  for (const char* wrong : {"", "1M", "3M", "2G", "0", "8K", "x"})
    EXPECT_NE(pages::parse_page(wrong, wish), "") << wrong;
}

}  // namespace
