// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/contents.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <unordered_map>

namespace weft::tool {
namespace {

using coll::Block;
using coll::Collective;
using coll::Step;

constexpr uint64_t nobody = 0;

// splitmix64: sums of these tell sets of ranks apart.
uint64_t number_of(int32_t rank) {
  uint64_t z = (static_cast<uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

struct Stretch {
  int64_t bytes;
  uint64_t who;   // the sum of numbers
  int64_t place;  // of the first byte, in the data that the ranks gave
};
using Content = std::vector<Stretch>;

class Memory {
 public:
  void write(const void* to, const Content& content) {
    auto at = reinterpret_cast<uintptr_t>(to);
    for (const Stretch& stretch : content) {
      split(at);
      split(at + static_cast<uintptr_t>(stretch.bytes));
      stretches_.erase(stretches_.lower_bound(at), stretches_.lower_bound(at + static_cast<uintptr_t>(stretch.bytes)));
      stretches_.emplace(at, stretch);
      at += static_cast<uintptr_t>(stretch.bytes);
    }
  }
  Content read(const void* from, int64_t bytes) {
    auto at = reinterpret_cast<uintptr_t>(from);
    const uintptr_t end = at + static_cast<uintptr_t>(bytes);
    split(at);
    split(end);
    Content content;
    for (auto next = stretches_.lower_bound(at); at != end; ++next) {
      const uintptr_t there = next == stretches_.end() || next->first > end ? end : next->first;
      if (there != at) content.push_back({static_cast<int64_t>(there - at), nobody, 0});
      at = there;
      if (at == end) break;
      content.push_back(next->second);
      at += static_cast<uintptr_t>(next->second.bytes);
    }
    return content;
  }

 private:
  // Stretches begin here, and do not go beyond.
  void split(uintptr_t at) {
    auto after = stretches_.upper_bound(at);
    if (after == stretches_.begin()) return;
    auto& [begin, stretch] = *std::prev(after);
    const auto head = static_cast<int64_t>(at - begin);
    if (head == 0 || head >= stretch.bytes) return;
    stretches_.emplace_hint(after, at, Stretch{stretch.bytes - head, stretch.who, stretch.place + head});
    stretch.bytes = head;
  }

  std::map<uintptr_t, Stretch> stretches_;
};

// Both together; bytes of different places make nobody's.
Content reduced(const Content& a, const Content& b) {
  Content both;
  size_t i = 0;
  size_t j = 0;
  int64_t into_a = 0;
  int64_t into_b = 0;
  while (i != a.size() && j != b.size()) {
    const int64_t bytes = std::min(a[i].bytes - into_a, b[j].bytes - into_b);
    const bool sound = a[i].who != nobody && b[j].who != nobody && a[i].place + into_a == b[j].place + into_b;
    both.push_back({bytes, sound ? a[i].who + b[j].who : nobody, a[i].place + into_a});
    into_a += bytes;
    into_b += bytes;
    if (into_a == a[i].bytes) ++i, into_a = 0;
    if (into_b == b[j].bytes) ++j, into_b = 0;
  }
  return both;
}

class PlannedRanks {
 public:
  PlannedRanks(const Operation& operation, Planner& planner)
      : operation_(operation), ranks_(static_cast<size_t>(operation.ranks)) {
    for (int32_t r = 0; r < operation.ranks; ++r) {
      (void)planner.plan(r, ranks_[static_cast<size_t>(r)].steps);
      give_data(r);
    }
  }

  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int32_t r = 0; r < operation_.ranks; ++r) moved |= advance(r);
    }
  }

  bool all_right() {
    for (int32_t r = 0; r < operation_.ranks; ++r) {
      if (!right(r)) return false;
    }
    return true;
  }

 private:
  struct Receive {
    int32_t from;
    void* to;
  };
  struct Rank {
    std::vector<Step> steps;
    size_t next = 0;
    std::deque<Receive> open;  // in their order
    Memory memory;
  };

  static void* at(uintptr_t what, int64_t offset) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(Planner::data(what)) + static_cast<uintptr_t>(offset));
  }
  int64_t of_all() const { return operation_.bytes * operation_.ranks; }
  bool reduces() const {
    return operation_.collective == Collective::reduce || operation_.collective == Collective::allreduce ||
           operation_.collective == Collective::reduce_scatter || operation_.collective == Collective::scan;
  }

  void give_data(int32_t r) {
    Memory& memory = ranks_[static_cast<size_t>(r)].memory;
    const Collective what = coll::regular_form(operation_.collective);
    if (what == Collective::scatter) {
      if (r == 0) memory.write(at(Planner::out, 0), {{of_all(), number_of(0), 0}});
    } else if (what != Collective::bcast || r == 0) {
      const bool blocks = what == Collective::alltoall || what == Collective::reduce_scatter;
      memory.write(at(Planner::in, 0), {{blocks ? of_all() : operation_.bytes, number_of(r), 0}});
    }
  }

  bool has(int32_t r, const void* where, uint64_t who, int64_t place) {
    for (const Stretch& stretch : ranks_[static_cast<size_t>(r)].memory.read(where, operation_.bytes)) {
      if (stretch.who != who || stretch.place != place) return false;
      place += stretch.bytes;
    }
    return true;
  }

  bool right(int32_t r) {
    const int64_t bytes = operation_.bytes;
    const Collective what = coll::regular_form(operation_.collective);
    if (what == Collective::bcast) return has(r, at(Planner::in, 0), number_of(0), 0);
    if (what == Collective::scatter) return has(r, at(Planner::in, 0), number_of(0), r * bytes);
    if (r != 0 && (what == Collective::gather || what == Collective::reduce)) return true;
    if (reduces()) {
      uint64_t sum = 0;
      const int32_t end = what == Collective::scan ? r + 1 : operation_.ranks;
      for (int32_t other = 0; other < end; ++other) sum += number_of(other);
      return has(r, at(Planner::out, 0), sum, what == Collective::reduce_scatter ? r * bytes : 0);
    }
    for (int32_t other = 0; other < operation_.ranks; ++other) {
      const int64_t place = what == Collective::alltoall ? r * bytes : 0;
      if (!has(r, at(Planner::out, other * bytes), number_of(other), place)) return false;
    }
    return true;
  }

  bool advance(int32_t r) {
    Rank& rank = ranks_[static_cast<size_t>(r)];
    bool moved = take_in(r, rank);
    for (; rank.next != rank.steps.size(); ++rank.next, moved = true) {
      const Step& step = rank.steps[rank.next];
      if (step.kind == Step::StepKind::fence) {
        if (!rank.open.empty()) moved |= take_in(r, rank);
        if (!rank.open.empty()) break;
      }
      perform(step, r, rank);
    }
    return moved;
  }

  void perform(const Step& step, int32_t r, Rank& rank) {
    const auto content = [&](const Block& block) { return rank.memory.read(block.data, block.bytes()); };
    switch (step.kind) {
      case Step::StepKind::send:
        messages_[key(r, step.rank)].push_back(content(step.from));
        return;
      case Step::StepKind::receive:
        rank.open.push_back({step.rank, step.to.data});
        return;
      case Step::StepKind::copy:
        rank.memory.write(step.to.data, content(step.from));
        return;
      case Step::StepKind::reduce:
        rank.memory.write(step.to.data, reduced(content(step.from), content(step.to)));
        return;
      case Step::StepKind::fence:
      case Step::StepKind::call:  // between ranks of one host
      case Step::StepKind::go:
      case Step::StepKind::wait:
        return;
    }
  }

  bool take_in(int32_t r, Rank& rank) {
    const size_t before = rank.open.size();
    std::deque<Receive> left;
    for (const Receive& receive : rank.open) {
      const auto found = messages_.find(key(receive.from, r));
      if (found == messages_.end()) {
        left.push_back(receive);
        continue;
      }
      rank.memory.write(receive.to, found->second.front());
      found->second.pop_front();
      if (found->second.empty()) messages_.erase(found);
    }
    rank.open = std::move(left);
    return rank.open.size() != before;
  }

  static uint64_t key(int32_t from, int32_t to) {
    return static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to);
  }

  Operation operation_;
  std::vector<Rank> ranks_;
  std::unordered_map<uint64_t, std::deque<Content>> messages_;
};

}  // namespace

Data check_contents(const Operation& operation, Planner& planner, size_t steps) {
  constexpr size_t most_steps = 1000000;
  constexpr int64_t most_blocks = 1000000;
  const int64_t blocks = int64_t{operation.ranks} * operation.ranks;  // where each has one of each
  const Collective what = coll::regular_form(operation.collective);
  const bool all_to_all = what == Collective::allgather || what == Collective::alltoall;
  if (operation.collective == Collective::barrier || operation.bytes == 0 || steps > most_steps ||
      (all_to_all && blocks > most_blocks)) {
    return Data::unchecked;
  }
  PlannedRanks ranks(operation, planner);
  ranks.run();
  return ranks.all_right() ? Data::right : Data::wrong;
}

}  // namespace weft::tool
