// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The hosts of a job as users name them, and how many ranks each gets.

#include <string>
#include <string_view>
#include <vector>

namespace weft::mpiexec {

struct Host {
  std::string name;
  int ranks = 0;  // at most so many; 0: its share of what is left
  int most = 0;   // a limit for --oversubscribe too; 0: none
  friend bool operator==(const Host&, const Host&) = default;
};

// "a,b:4". A host named several times gets the sum, one for each time without a number: lists of batch systems are
// written so. Empty: taken, otherwise what is wrong.
[[nodiscard]] std::string parse_hosts(std::string_view text, std::vector<Host>& hosts);

// Reads the text of a file, which has a host in each line: "a", "b:4", "b slots=4" or "b slots = 4 max_slots=8".
// Comments go from # to the line's end. Returns as parse_hosts() does.
[[nodiscard]] std::string parse_host_file(std::string_view text, std::vector<Host>& hosts);
[[nodiscard]] std::string read_host_file(const std::string& path, std::vector<Host>& hosts);

// Whether all of them are names of the host whose own name is `own`, localhost among them.
[[nodiscard]] bool all_are_here(const std::vector<Host>& hosts, const std::string& own);

// Gives each host its number of ranks, which follow each other host by host; hosts that get none are left out. Fails
// where the hosts' numbers do not suffice, unless `oversubscribe` allows to multiply them.
[[nodiscard]] std::string spread(std::vector<Host>& hosts, int ranks, bool oversubscribe);

// Lets each host take `most` ranks at most, for --oversubscribe too. With `all` each must take so many: fails where the
// number of a host is lower.
[[nodiscard]] std::string limit_hosts(std::vector<Host>& hosts, int most, bool all);

// Deals ranks to the hosts in turn, one each, within their numbers. Hosts whose numbers do not suffice stay as they
// are. Before spread().
void deal_in_turn(std::vector<Host>& hosts, int ranks);

// How many processes the hosts take together, which is MPI_UNIVERSE_SIZE: the sum of their numbers, one for each host
// without a number, and at least the ranks that start. Before spread().
[[nodiscard]] int places_of(const std::vector<Host>& hosts, int ranks);

// "a:2,b:4", as every launcher reads it.
[[nodiscard]] std::string listed(const std::vector<Host>& hosts);

}  // namespace weft::mpiexec
