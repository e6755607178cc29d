// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include "mpiexec/hosts.hpp"

namespace weft::mpiexec {
namespace {

using Hosts = std::vector<Host>;

Hosts with_hosts(std::string_view text) {
  Hosts hosts;
  EXPECT_EQ(parse_hosts(text, hosts), "") << text;
  return hosts;
}

std::string spread_of(std::string_view text, int ranks, bool oversubscribe = false) {
  Hosts hosts = with_hosts(text);
  EXPECT_EQ(spread(hosts, ranks, oversubscribe), "") << text;
  int sum = 0;
  for (const Host& host : hosts) sum += host.ranks;
  EXPECT_EQ(sum, ranks) << text;
  return listed(hosts);
}

std::string dealt(std::string_view text, int ranks) {
  Hosts hosts = with_hosts(text);
  deal_in_turn(hosts, ranks);
  return listed(hosts);
}

TEST(DealInTurn, OneEachWithinTheNumbers) {
  EXPECT_EQ(dealt("a:4,b:4", 5), "a:3,b:2");
  EXPECT_EQ(dealt("a:1,b,c:2", 6), "a:1,b:3,c:2");
  EXPECT_EQ(dealt("a,b,c", 2), "a:1,b:1");
  EXPECT_EQ(dealt("a:1,b:2", 4), "a:1,b:2");
}

TEST(ParseHosts, NamesWithAndWithoutNumbers) {
  EXPECT_EQ(with_hosts("a,b-1.site.org:4,10.0.0.7"), (Hosts{{"a", 0}, {"b-1.site.org", 4}, {"10.0.0.7", 0}}));
  EXPECT_EQ(with_hosts("a,a,b:2,a,b:3"), (Hosts{{"a", 3}, {"b", 5}}));
}

TEST(ParseHosts, WhatIsNoHostIsNamed) {
  for (const char* text :
       {"", "a,,b", "a,", "-oProxyCommand=x", "a b", "a;b", "user@a", "a:0", "a:x", "a:", "a:99999999"}) {
    Hosts hosts;
    EXPECT_NE(parse_hosts(text, hosts), "") << text;
  }
}

TEST(ParseHosts, FilesOfBothForms) {
  Hosts hosts;
  EXPECT_EQ(parse_host_file("# the rack\n\n  a\nb:4 \r\nc \t slots=2 # new\na", hosts), "");
  EXPECT_EQ(hosts, (Hosts{{"a", 2}, {"b", 4}, {"c", 2}}));
  hosts.clear();
  EXPECT_NE(parse_host_file("a\nb max=4\n", hosts).find("line 2"), std::string::npos);
  hosts.clear();
  EXPECT_NE(parse_host_file("# nothing\n", hosts), "");
  EXPECT_NE(read_host_file("/nowhere/hosts", hosts).find("No such file"), std::string::npos);
  EXPECT_NE(read_host_file("/", hosts), "");
}

TEST(ParseHosts, FilesOfOtherLaunchers) {
  Hosts hosts;
  const std::string own = getpwuid(geteuid())->pw_name;
  EXPECT_EQ(parse_host_file("a slots=2 max_slots=4\nb slots = 3\nc\tmax-slots= 5\nd cpu=2\n" + own + "@e:2\n" + own +
                                "@f slots=1\n[::1] slots=2\n[::1]:3\n",
                            hosts),
            "");
  EXPECT_EQ(hosts, (Hosts{{"a", 2, 4}, {"b", 3}, {"c", 5, 5}, {"d", 2}, {"e", 2}, {"f", 1}, {"localhost", 5}}));
}

TEST(ParseHosts, LinesThatCannotBeMeantAreExplained) {
  const std::pair<const char*, const char*> lines[] = {
      {"a slots=4 max_slots=2", "has slots=4, which is more than its max_slots=2: write"},
      {"a:2 slots=4", "has two numbers of ranks: write one"},
      {"a slots=4 slots=4", "has two numbers of ranks: write one"},
      {"a slots=", "the number of ranks for \"a\" cannot be used"},
      {"a slots=0", "is out of range: write 1 to"},
      {"a slots 4", "is not understood: write host:4"},
      {"nobody-here@b", ": write the host alone"},
      {"[fe80::1]:2", "is an IPv6 address, and"},
      {"[fe80::1%eth0]", "is an IPv6 address, and"},
      {"[a]", "is no IPv6 address: write a name"},
      {"[::1", "is no name of a host: write"},
  };
  for (const auto& [line, why] : lines) {
    Hosts hosts;
    const std::string wrong = parse_host_file(std::string("ok\n") + line + "\n", hosts);
    EXPECT_TRUE(wrong.starts_with("line 2: ")) << wrong;
    EXPECT_NE(wrong.find(why), std::string::npos) << wrong;
    EXPECT_NE(wrong.find(": write "), std::string::npos) << "no remedy: " << wrong;
  }
}

TEST(AllAreHere, ShortAndFullNamesOfThisHost) {
  EXPECT_TRUE(all_are_here({}, "node1"));
  EXPECT_TRUE(all_are_here(with_hosts("localhost,127.0.0.1,NODE1,node1.site.org"), "node1"));
  EXPECT_TRUE(all_are_here(with_hosts("node1,node1.site.org"), "node1.site.org"));
  EXPECT_FALSE(all_are_here(with_hosts("node1.other.org"), "node1.site.org"));
  EXPECT_FALSE(all_are_here(with_hosts("node1,node2"), "node1"));
  EXPECT_FALSE(all_are_here(with_hosts("node"), "node1"));
}

TEST(Spread, HostsWithoutNumbersShareEvenly) {
  EXPECT_EQ(spread_of("a,b", 4), "a:2,b:2");
  EXPECT_EQ(spread_of("a,b,c,d", 6), "a:2,b:2,c:1,d:1");
  EXPECT_EQ(spread_of("a,b,c", 2), "a:1,b:1");
}

TEST(Spread, NumbersAreLimits) {
  EXPECT_EQ(spread_of("a:4,b:4", 6), "a:4,b:2");
  EXPECT_EQ(spread_of("a:4,b:4", 3), "a:3");
  EXPECT_EQ(spread_of("a:2,b,c", 7), "a:2,b:3,c:2");
  EXPECT_EQ(spread_of("b,a:4", 2), "a:2") << "nothing is left for who has no number";
}

TEST(PlacesOf, NumbersOfAllHosts) {
  EXPECT_EQ(places_of(with_hosts("a:3,b:4"), 2), 7);
  EXPECT_EQ(places_of(with_hosts("a:3,b"), 2), 4);
  EXPECT_EQ(places_of(with_hosts("a,b"), 5), 5);
}

TEST(Spread, TooManyRanksNeedToBeMeant) {
  Hosts hosts = with_hosts("a:2,b:1");
  EXPECT_NE(spread(hosts, 4, false).find("more than the 3"), std::string::npos);
  EXPECT_EQ(spread_of("a:2,b:1", 4, true), "a:4");
  EXPECT_EQ(spread_of("a:2,b:1", 9, true), "a:6,b:3");
}

TEST(Spread, MaxSlotsHoldForOversubscription) {
  Hosts hosts = {{"a", 2, 4}, {"b", 1}};
  Hosts more = hosts;
  Hosts limited = {{"a", 2, 4}, {"b", 1, 2}};
  EXPECT_EQ(spread(hosts, 3, false), "");
  EXPECT_EQ(listed(hosts), "a:2,b:1");
  EXPECT_EQ(spread(more, 9, true), "");
  EXPECT_EQ(listed(more), "a:4,b:5");
  EXPECT_NE(spread(limited, 7, true).find("more than the 6 that max_slots"), std::string::npos);
}

}  // namespace
}  // namespace weft::mpiexec
