// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The graph of waits in a snapshot, and the ranks in it that can never go on.

#include <map>
#include <vector>

#include "why/snapshot.hpp"

namespace weft::why {

// One wait goes on when one rank of each group has acted. A wait without groups may end at any time: its
// purpose is not known.
using Groups = std::vector<std::vector<int32_t>>;

class Graph {
 public:
  explicit Graph(const Snapshot& snapshot);

  const Snapshot& snapshot() const { return snapshot_; }
  const Process* find(int32_t rank) const;
  // Returns the groups of a wait of a process.
  const Groups& groups(int32_t rank, size_t wait) const { return groups_.at(rank)[wait]; }
  // Whether it waits, and nothing that any rank can still do ends one of its waits.
  bool is_stuck(int32_t rank) const;
  // The ranks that it waits for, each once, in order.
  std::vector<int32_t> awaited_by(int32_t rank) const;
  // Stuck ranks of which each waits for the next, and the last for the first; none: there is no such circle.
  std::vector<int32_t> cycle() const;

 private:
  Groups groups_of(const Process& process, const Wait& wait) const;
  std::vector<int32_t> peers_of(const Process& process, const Wait& wait, const Message& message) const;
  std::vector<int32_t> holders_of(const Process& process, const Wait& wait) const;
  bool may_act(int32_t rank) const;
  bool may_end(const Groups& groups) const;

  const Snapshot& snapshot_;
  std::map<int32_t, const Process*> processes_;
  std::map<int32_t, std::vector<Groups>> groups_;  // of those that wait
  std::map<int32_t, bool> stuck_;
};

}  // namespace weft::why
