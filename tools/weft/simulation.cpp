// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/simulation.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <queue>
#include <unordered_map>

#include "weft/contents.hpp"
#include "weft/planner.hpp"

namespace weft::tool {
namespace {

using coll::Algorithm;
using coll::Collective;
using coll::Step;

// A step of a plan in one word: a million plans are kept at once.
class Act {
 public:
  enum class Kind : uint8_t { send, receive, work };

  Act(Kind kind, bool fenced, int32_t rank, int64_t bytes)
      : word_(static_cast<uint64_t>(kind) | uint64_t{fenced} << 2 | static_cast<uint64_t>(rank) << 3 |
              static_cast<uint64_t>(bytes) << bytes_from) {}
  Kind kind() const { return static_cast<Kind>(word_ & 3); }
  bool fenced() const { return (word_ & 4) != 0; }  // it waits for all sends and receives before it
  int32_t rank() const { return static_cast<int32_t>(word_ >> 3 & ((1U << 21) - 1)); }
  int64_t bytes() const { return static_cast<int64_t>(word_ >> bytes_from); }

 private:
  static constexpr int bytes_from = 24;
  uint64_t word_;
};

// How many steps the plan has; -1: there was no memory for its data.
int64_t record(Planner& planner, int32_t rank, std::vector<Act>& acts) {
  std::vector<Step> steps;
  if (!planner.plan(rank, steps)) return -1;
  bool fenced = false;
  for (const Step& step : steps) {
    if (step.kind == Step::StepKind::fence) {
      fenced = true;
      continue;
    }
    const Act::Kind kind = step.kind == Step::StepKind::send      ? Act::Kind::send
                           : step.kind == Step::StepKind::receive ? Act::Kind::receive
                                                                  : Act::Kind::work;
    acts.emplace_back(kind, fenced, step.rank, kind == Act::Kind::receive ? step.to.bytes() : step.from.bytes());
    fenced = false;
  }
  return static_cast<int64_t>(steps.size());
}

// All plans, and their play.
class Play {
 public:
  Play(const Operation& operation, const Model& model)
      : operation_(operation),
        model_(model),
        ranks_(static_cast<size_t>(operation.ranks)),
        interfaces_(static_cast<size_t>((operation.ranks + operation.ranks_per_host - 1) / operation.ranks_per_host)) {}

  bool plan(Planner& planner, Outcome& outcome) {
    int64_t longest = 0;
    for (int32_t r = 0; r < operation_.ranks; ++r) {
      Rank& rank = ranks_[static_cast<size_t>(r)];
      rank.next = acts_.size();
      const int64_t steps = record(planner, r, acts_);
      if (steps < 0) return false;
      rank.end = acts_.size();
      longest = std::max(longest, steps);
    }
    outcome.plan_bytes = longest * static_cast<int64_t>(sizeof(Step));
    return true;
  }

  size_t steps() const { return acts_.size(); }

  // False: the ranks wait for each other.
  bool run(Outcome& outcome) {
    for (int32_t r = 0; r < operation_.ranks; ++r) turns_.push({0, r});
    while (!turns_.empty()) {
      const Turn turn = turns_.top();
      turns_.pop();
      advance(turn.rank);
    }
    for (size_t r = 0; r < ranks_.size(); ++r) {
      const Rank& rank = ranks_[r];
      if (rank.next != rank.end || rank.open != 0) return false;
      outcome.time = std::max({outcome.time, rank.now, rank.ready});
      outcome.messages += rank.sent;
      if (rank.sent + rank.received > outcome.messages_of_busiest) {
        outcome.messages_of_busiest = rank.sent + rank.received;
        outcome.busiest = static_cast<int32_t>(r);
      }
    }
    outcome.bytes_between_hosts = between_hosts_;
    return true;
  }

 private:
  struct Rank {
    double now = 0;    // it has performed its steps so far
    double ready = 0;  // it has taken in what came so far
    size_t next = 0;   // among acts_
    size_t end = 0;
    int32_t open = 0;  // receives that nothing has come for
    bool waits = false;
    int64_t sent = 0;
    int64_t received = 0;
  };
  struct Turn {
    double time;
    int32_t rank;
    bool operator<(const Turn& other) const { return time != other.time ? time > other.time : rank > other.rank; }
  };
  // It holds, in their order, messages from one rank to another that have no receives, or receives without messages.
  struct Way {
    std::vector<double> messages;  // when they come; rarely more than one
    std::vector<double> receives;  // when they were posted
  };
  struct Interface {
    double out_free = 0;
    double in_free = 0;
  };

  int32_t host_of(int32_t rank) const { return rank / operation_.ranks_per_host; }
  const Wire& wire(int32_t a, int32_t b) const {
    if (host_of(a) != host_of(b)) return model_.between;
    const int32_t first = host_of(a) * operation_.ranks_per_host;
    const bool near = (a - first) / operation_.ranks_per_domain == (b - first) / operation_.ranks_per_domain;
    return near ? model_.within : model_.far;
  }

  // Performs steps until the rank has to wait, or another one's turn comes first.
  void advance(int32_t r) {
    Rank& rank = ranks_[static_cast<size_t>(r)];
    while (rank.next != rank.end) {
      const Act act = acts_[rank.next];
      if (act.fenced()) {
        if (rank.open != 0) {
          rank.waits = true;
          return;
        }
        rank.now = std::max(rank.now, rank.ready);
      }
      if (!turns_.empty() && rank.now > turns_.top().time) return turns_.push({rank.now, r});
      ++rank.next;
      perform(act, r, rank);
    }
  }

  void perform(const Act& act, int32_t r, Rank& rank) {
    switch (act.kind()) {
      case Act::Kind::send:
        ++rank.sent;
        return send(act, r, rank);
      case Act::Kind::receive: {
        ++rank.received;
        ++rank.open;
        const auto way = ways_.try_emplace(key(act.rank(), r)).first;
        way->second.receives.push_back(rank.now);
        return match(way, act.rank(), r);
      }
      case Act::Kind::work:
        rank.now += static_cast<double>(act.bytes()) * model_.copy;
        return;
    }
  }

  void send(const Act& act, int32_t r, Rank& rank) {
    const Wire& line = wire(r, act.rank());
    const double on_line = static_cast<double>(act.bytes()) * line.per_byte;
    rank.now += line.overhead;
    double comes;
    if (host_of(r) == host_of(act.rank())) {
      comes = rank.now + line.latency + on_line;
    } else {
      between_hosts_ += act.bytes();
      Interface& from = interfaces_[static_cast<size_t>(host_of(r))];
      Interface& to = interfaces_[static_cast<size_t>(host_of(act.rank()))];
      from.out_free = std::max(from.out_free, rank.now) + model_.gap + on_line;
      const double arrives = from.out_free + line.latency;
      const double congested = to.in_free > arrives ? model_.incast : 0;
      to.in_free = std::max(arrives, to.in_free + model_.gap + on_line) + congested;
      comes = to.in_free;
    }
    const auto way = ways_.try_emplace(key(r, act.rank())).first;
    way->second.messages.push_back(comes);
    match(way, r, act.rank());
  }

  static uint64_t key(int32_t from, int32_t to) {
    return static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to);
  }

  void match(std::unordered_map<uint64_t, Way>::iterator at, int32_t from, int32_t to) {
    Way& way = at->second;
    if (way.messages.empty() || way.receives.empty()) return;
    const double comes = way.messages.front();
    const double posted = way.receives.front();
    way.messages.erase(way.messages.begin());
    way.receives.erase(way.receives.begin());
    if (way.messages.empty() && way.receives.empty()) ways_.erase(at);
    Rank& rank = ranks_[static_cast<size_t>(to)];
    rank.ready = std::max({rank.ready, comes, posted}) + wire(from, to).overhead;
    if (comes < posted) rank.ready += model_.unexpected;
    if (--rank.open != 0 || !rank.waits) return;
    rank.waits = false;
    turns_.push({std::max(rank.now, rank.ready), to});
  }

  Operation operation_;
  Model model_;
  std::vector<Act> acts_;
  std::vector<Rank> ranks_;
  std::vector<Interface> interfaces_;
  std::unordered_map<uint64_t, Way> ways_;
  std::priority_queue<Turn> turns_;
  int64_t between_hosts_ = 0;
};

// The bytes that the table of algorithms asks for.
int64_t table_bytes(const Operation& operation) {
  const Collective data = coll::regular_form(operation.collective);
  const bool of_all = data == Collective::allgather || data == Collective::reduce_scatter;
  if (!coll::knows_bytes(operation.collective)) return 0;
  return of_all ? operation.bytes * operation.ranks : operation.bytes;
}

coll::Algorithms able(const Operation& operation, bool leaders) {
  const bool cube = std::has_single_bit(static_cast<uint32_t>(operation.ranks));
  const bool gathers = operation.collective == Collective::allgather;
  const coll::Algorithms can = coll::Algorithms::all()
                                   .without(Algorithm::leaders, !leaders)
                                   .without(Algorithm::doubling, gathers && !cube)
                                   .without(Algorithm::neighbours, operation.ranks % 2 != 0);
  return coll::without_parts(can, operation.collective, operation.bytes < operation.ranks);
}

std::string in_words(double bytes) {
  char text[32];
  snprintf(text, sizeof text, bytes < 1e9 ? "%.0f MB" : "%.1f GB", bytes / (bytes < 1e9 ? 1e6 : 1e9));
  return text;
}

// Estimates the bytes of all plans from those of some ranks: the first one, which is the root, and others here and
// there, fewer if they are long.
double room_for_plans(Planner& planner, int32_t ranks) {
  constexpr int32_t looked_at = 64;
  constexpr size_t enough = 4000000;
  std::vector<Act> acts;
  (void)record(planner, 0, acts);
  const auto first = static_cast<double>(acts.size());
  acts.clear();
  const int32_t step = std::max(1, ranks / looked_at);
  int32_t others = 0;
  for (int32_t r = 1; r < ranks && (others < 3 || acts.size() < enough); r += step, ++others) {
    (void)record(planner, r, acts);
  }
  return (first + static_cast<double>(acts.size()) / others * ranks) * sizeof(Act);
}

}  // namespace

std::vector<Outcome> simulate(const Operation& operation, const Model& model, int64_t room) {
  std::vector<Outcome> outcomes;
  const Planner by_table(operation, Algorithm::automatic);
  const coll::Algorithms can = able(operation, by_table.has_leaders());
  const Algorithm by_default = by_table.chosen(table_bytes(operation), can);
  for (const Algorithm algorithm : coll::algorithms_of(operation.collective).subspan(1)) {
    if (operation.only != Algorithm::automatic && operation.only != algorithm) continue;
    Outcome& outcome = outcomes.emplace_back();
    outcome.algorithm = algorithm;
    outcome.is_default = algorithm == by_default;
    if (!can.has(algorithm)) {
      const bool in_room = algorithm == Algorithm::shared || algorithm == Algorithm::single_copy;
      outcome.left_out = in_room                              ? "it sends no messages"
                         : algorithm == Algorithm::peer_copy  ? "its data are in no messages"
                         : algorithm == Algorithm::offload    ? "a component does it"
                         : algorithm == Algorithm::doubling   ? "the ranks are no power of two"
                         : algorithm == Algorithm::neighbours ? "the number of ranks is odd"
                         : algorithm == Algorithm::leaders    ? "hosts make no difference"
                                                              : "there are more ranks than bytes";
      continue;
    }
    Planner planner(operation, algorithm);
    const double needed = room_for_plans(planner, operation.ranks);
    Play play(operation, model);
    if (needed > static_cast<double>(room)) {
      outcome.left_out = "the plans of all ranks take " + in_words(needed) + ": simulate fewer ranks";
    } else if (!play.plan(planner, outcome)) {
      outcome.left_out = "no memory for the data of a plan: simulate fewer ranks or bytes";
    } else if (!play.run(outcome)) {
      outcome.left_out = "its ranks wait for each other: a fault of the algorithm, please report it";
    } else if ((outcome.data = check_contents(operation, planner, play.steps())) == Data::wrong) {
      outcome.left_out = "its data do not arrive where they belong: a fault of the algorithm, please report it";
    }
  }
  return outcomes;
}

}  // namespace weft::tool
