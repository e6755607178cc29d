// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/graph.hpp"

#include <algorithm>
#include <set>

namespace weft::why {

Graph::Graph(const Snapshot& snapshot) : snapshot_(snapshot) {
  for (const Process& p : snapshot.processes) processes_[p.rank] = &p;
  for (const Process& p : snapshot.processes) {
    if (p.state != State::waiting) continue;
    auto& all = groups_[p.rank];
    for (const Wait& wait : p.page.waits) all.push_back(groups_of(p, wait));
    stuck_[p.rank] = !p.threads_act && !p.page.waits.empty() && p.page.untold == 0;
  }
  // All that wait are taken for stuck, until one of their waits may end: a rank that may go on may end others' waits.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [rank, stuck] : stuck_) {
      const auto& waits = groups_[rank];
      if (!stuck || std::none_of(waits.begin(), waits.end(), [&](const Groups& g) { return may_end(g); })) continue;
      stuck = false;
      changed = true;
    }
  }
}

const Process* Graph::find(int32_t rank) const {
  const auto at = processes_.find(rank);
  return at == processes_.end() ? nullptr : at->second;
}

bool Graph::is_stuck(int32_t rank) const {
  const auto at = stuck_.find(rank);
  return at != stuck_.end() && at->second;
}

bool Graph::may_act(int32_t rank) const {
  const Process* p = find(rank);
  if (p == nullptr) return true;  // it was not looked at
  return p->state == State::waiting ? !is_stuck(rank) : p->state < State::stopped;
}

bool Graph::may_end(const Groups& groups) const {
  return std::all_of(groups.begin(), groups.end(), [&](const std::vector<int32_t>& group) {
    return std::any_of(group.begin(), group.end(), [&](int32_t rank) { return may_act(rank); });
  });
}

// A message comes from, or goes to, one of these; none: not known.
std::vector<int32_t> Graph::peers_of(const Process& process, const Wait& wait, const Message& message) const {
  if (message.peer >= 0) return {message.peer};
  std::vector<int32_t> peers;
  if (message.peer != boot::any_rank || message.kind == MessageKind::operation) return peers;
  const bool same = (message.context | 1) == (wait.comm.context | 1);
  if (!same || wait.comm.members.size() != static_cast<size_t>(wait.comm.size)) {
    for (int32_t rank = 0; rank < snapshot_.size; ++rank) peers.push_back(rank);
  } else {
    peers = wait.comm.members;
  }
  if (peers.size() > 1) std::erase(peers, process.rank);
  return peers;
}

// Returns the holders of the lock that it waits for. If no page names one, ranks that do not wait or have no page may
// hold it.
std::vector<int32_t> Graph::holders_of(const Process& process, const Wait& wait) const {
  std::vector<int32_t> holders;
  for (const auto& [rank, p] : processes_) {
    if (p->state != State::waiting || rank == process.rank) continue;
    for (const Lock& lock : p->page.locks) {
      if (lock.context == wait.comm.context && lock.target == wait.target) holders.push_back(rank);
    }
  }
  if (!holders.empty()) return holders;
  for (const int32_t rank : wait.comm.members) {
    const Process* p = find(rank);
    if (rank != process.rank && (p == nullptr || p->state != State::waiting)) holders.push_back(rank);
  }
  return holders;
}

// Messages say best what a wait is for, then the target; else it is a group of its own or nothing.
Groups Graph::groups_of(const Process& process, const Wait& wait) const {
  Groups groups;
  const auto add = [&](std::vector<int32_t> group) {
    if (!group.empty()) groups.push_back(std::move(group));
  };
  switch (wait.kind) {
    case WaitKind::lock:
      add(holders_of(process, wait));
      return groups;
    case WaitKind::any: {
      std::vector<int32_t> all;
      for (const Message& m : wait.listed) {
        const std::vector<int32_t> peers = peers_of(process, wait, m);
        if (peers.empty()) return {};
        all.insert(all.end(), peers.begin(), peers.end());
      }
      if (wait.listed.size() == wait.messages) add(std::move(all));
      return groups;
    }
    case WaitKind::memory:
    case WaitKind::other:
    case WaitKind::none:
      return groups;
    default:
      break;
  }
  for (const Message& m : wait.listed) add(peers_of(process, wait, m));
  if (groups.empty() && wait.target >= 0) add({wait.target});
  if (!groups.empty() || wait.kind != WaitKind::collective) return groups;
  // MPI_Finalize waits for sends first; a nonblocking operation names no rank that it waits for.
  for (const Message& m : process.page.open_messages) {
    if (m.kind == MessageKind::send || m.kind == MessageKind::synchronous_send) add(peers_of(process, wait, m));
  }
  return groups;
}

std::vector<int32_t> Graph::awaited_by(int32_t rank) const {
  std::set<int32_t> all;
  const auto at = groups_.find(rank);
  if (at == groups_.end()) return {};
  for (const Groups& groups : at->second) {
    for (const auto& group : groups) all.insert(group.begin(), group.end());
  }
  return {all.begin(), all.end()};
}

// From a stuck rank on, always to the first stuck one that it waits for, until a rank comes again.
std::vector<int32_t> Graph::cycle() const {
  std::set<int32_t> tried;
  for (const auto& [first, stuck] : stuck_) {
    std::vector<int32_t> path;
    for (int32_t rank = first; is_stuck(rank);) {
      const auto again = std::find(path.begin(), path.end(), rank);
      if (again != path.end()) return {again, path.end()};
      if (!tried.insert(rank).second) break;
      path.push_back(rank);
      const std::vector<int32_t> awaited = awaited_by(rank);
      const auto next = std::find_if(awaited.begin(), awaited.end(), [&](int32_t r) { return is_stuck(r); });
      if (next == awaited.end()) break;
      rank = *next;
    }
  }
  return {};
}

}  // namespace weft::why
