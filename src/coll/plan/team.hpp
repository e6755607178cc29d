// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ranks that a pattern (coll/plan/pattern.hpp) runs among: all of a communicator, or a team of some, in places 0,
// 1, ... of an order of their own. A pattern asks for three things: the `size`, our own `place`, and the rank at a
// place, [p], or the Member there.

#include "core/object/comm.hpp"

namespace weft::coll {

struct Everybody {
  explicit Everybody(const core::Comm& comm) : size(comm.size), place(comm.rank) {}

  int32_t size;
  int32_t place;
  int32_t operator[](int32_t p) const { return p; }
};

struct Team {
  int32_t size;
  int32_t place;
  const int32_t* ranks;  // by place; nullptr: they are consecutive, from `first` on
  int32_t first = 0;
  int32_t stride = 1;
  int32_t chosen_place = -1;  // where `chosen` replaces the rank in `ranks`
  int32_t chosen = 0;

  int32_t operator[](int32_t p) const {
    if (p == chosen_place) return chosen;
    return ranks != nullptr ? ranks[p] : first + p * stride;
  }
};

// The members of a group, by their ranks in the job.
inline Team team_of(const core::Group& group) {
  return {group.size, group.rank, group.table.empty() ? nullptr : group.table.data(), group.first, group.stride};
}

// Where one of a team is reached whose members belong to several communicators.
struct Member {
  core::Comm* comm;
  int32_t rank;
};

// All ranks, those of a host one after the other.
inline Team host_by_host(const core::Comm& comm) {
  if (comm.hosts == nullptr) return {comm.size, comm.rank, nullptr};
  const core::Hosts& hosts = *comm.hosts;
  return {comm.size, hosts.start(hosts.host) + hosts.place, hosts.consecutive() ? nullptr : hosts.order.data()};
}

// Whether that is the order of ranks.
inline bool by_host_in_order(const core::Comm& comm) {
  return comm.hosts == nullptr || comm.hosts->consecutive();
}

// The place of a rank in that order.
inline int32_t place_of(const core::Comm& comm, int32_t rank) {
  if (comm.hosts == nullptr) return rank;
  const core::Hosts& hosts = *comm.hosts;
  return hosts.start(hosts.host_of(rank)) + hosts.place_of(rank);
}

// A communicator in two layers: the ranks of our host, and the leaders, one of each host, which alone communicate with
// other hosts. A host's first rank is its leader; on the host of a root that is the root.
struct ByHost {
  explicit ByHost(const core::Hosts& hosts)
      : ours{.size = hosts.ranks_on(hosts.host),
             .place = hosts.place,
             .ranks = hosts.consecutive() ? nullptr : hosts.order.data() + hosts.start(hosts.host),
             .first = hosts.start(hosts.host)},
        leaders{.size = hosts.count(), .place = hosts.host, .ranks = hosts.first_ranks()} {}
  ByHost(const core::Hosts& hosts, int32_t root) : ByHost(hosts) {
    root_host = hosts.host_of(root);
    leaders.chosen_place = root_host;
    leaders.chosen = root;
    if (hosts.host == root_host) leader = hosts.place_of(root);
  }
  bool leads() const { return ours.place == leader; }

  Team ours;              // in rising order
  Team leaders;           // host by host
  int32_t leader = 0;     // the place of our host's one among `ours`
  int32_t root_host = 0;  // the place of the root's one among `leaders`
};

}  // namespace weft::coll
