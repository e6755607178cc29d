// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations of many ranks in one process: schedules are planned for every rank of a communicator and their
// steps performed by a simulation, whose sends complete at once, or only when they are received. Ranks are on one host
// or several, and messages between hosts are counted.

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "coll/plan/plan.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/select/select.hpp"
#include "datatype/pack.hpp"
#include "datatype/predefined.hpp"

namespace weft::test {

using coll::Array;
using coll::Block;
using coll::Blocks;
using coll::Schedule;
using coll::Step;
using core::Comm;
using Values = std::vector<int64_t>;

constexpr datatype::Type make_word() {
  datatype::Type type;
  type.committed = type.contiguous = type.predefined = true;
  type.basic = datatype::Basic::int64;
  type.size = type.extent = type.true_extent = type.nest.block = 8;
  type.basic_count = 1;
  return type;
}
inline constinit datatype::Type word = make_word();

// A word with a gap of a word behind it.
constexpr datatype::Type make_wide() {
  datatype::Type type = make_word();
  type.contiguous = false;
  type.extent = 16;
  return type;
}
inline constinit datatype::Type wide = make_wide();

// An operation that tells in which order ranks were taken: sequences of ranks are joined, as pairs of their length (as
// a power of the hash's base) and their hash. It does not commute.
inline constexpr uint32_t base_of_hash = 31;
inline int64_t sequence_of(uint32_t rank) {
  return static_cast<int64_t>(uint64_t{base_of_hash} << 32 | (rank + 1));
}
inline int64_t joined(int64_t a, int64_t b) {
  const auto power_a = static_cast<uint32_t>(static_cast<uint64_t>(a) >> 32);
  const auto power_b = static_cast<uint32_t>(static_cast<uint64_t>(b) >> 32);
  const uint32_t hash = static_cast<uint32_t>(a) * power_b + static_cast<uint32_t>(b);
  return static_cast<int64_t>(uint64_t{power_a * power_b} << 32 | hash);
}
inline void join(const coll::Reducer& /*self*/, const void* in, void* inout, int64_t count) {
  const auto* a = static_cast<const int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int64_t i = 0; i < count; ++i) b[i] = joined(a[i], b[i]);
}
inline void add(const coll::Reducer& /*self*/, const void* in, void* inout, int64_t count) {
  const auto* a = static_cast<const int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int64_t i = 0; i < count; ++i) b[i] += a[i];
}
inline coll::Reducer reducer_of(void (*function)(const coll::Reducer&, const void*, void*, int64_t), bool commutative) {
  coll::Reducer reducer;
  reducer.type = &word;
  reducer.function = function;
  reducer.commutative = commutative;
  return reducer;
}
inline const coll::Reducer joining = reducer_of(join, false);
inline const coll::Reducer adding = reducer_of(add, true);

inline int64_t joined_ranks(int first, int last) {
  int64_t all = sequence_of(static_cast<uint32_t>(first));
  for (int r = first + 1; r <= last; ++r) all = joined(all, sequence_of(static_cast<uint32_t>(r)));
  return all;
}

// How ranks are placed on hosts. Launchers and orders of ranks place them so: neighbours together, dealt in turn, and
// back and forth; hosts with one rank, two, three and so on; one host with all but the last rank; and at random.
enum class Layout { one_host, blocks, dealt, folded, growing, lone_last, scattered };

inline std::vector<int32_t> place(Layout layout, int ranks) {
  std::vector<int32_t> hosts;
  std::minstd_rand random(static_cast<unsigned>(ranks));
  int host = 0;
  int left = 1;
  for (int r = 0; r < ranks; ++r) {
    constexpr int dealt_to = 3;
    switch (layout) {
      case Layout::one_host:
        hosts.push_back(0);
        break;
      case Layout::blocks:
        hosts.push_back(10 - r / 4);
        break;
      case Layout::dealt:
        hosts.push_back(r % dealt_to);
        break;
      case Layout::folded:
        hosts.push_back(r / dealt_to % 2 == 0 ? r % dealt_to : dealt_to - 1 - r % dealt_to);
        break;
      case Layout::growing:
        hosts.push_back(host);
        if (--left == 0) left = ++host + 1;
        break;
      case Layout::lone_last:
        hosts.push_back(r == ranks - 1 ? 1 : 0);
        break;
      case Layout::scattered:
        hosts.push_back(static_cast<int32_t>(random() % 5));
        break;
    }
  }
  return hosts;
}

inline std::unique_ptr<const core::Hosts> hosts_seen_by(int32_t rank, const std::vector<int32_t>& hosts) {
  return core::find_hosts(rank, static_cast<int32_t>(hosts.size()),
                          [&hosts](int32_t r) { return hosts[static_cast<size_t>(r)]; });
}

enum class Sends { complete_at_once, wait_for_receives };

// Which algorithms are taken, where they can be: those of the default rows; the parts that those leave out; the rest.
enum class Rows { of_default, others, rest };

inline std::vector<coll::Row> rows_of(Rows rows) {
  using coll::Algorithm;
  using coll::Collective;
  if (rows == Rows::of_default) return {};
  if (rows == Rows::others) {
    return {{Collective::barrier, Algorithm::dissemination},
            {Collective::bcast, Algorithm::chain},
            {Collective::gather, Algorithm::leaders},
            {Collective::scatter, Algorithm::leaders},
            {Collective::gather, Algorithm::direct},
            {Collective::scatter, Algorithm::direct},
            {Collective::allgather, Algorithm::neighbours},
            {Collective::allgather, Algorithm::ring},
            {Collective::allgatherv, Algorithm::bruck},
            {Collective::alltoall, Algorithm::bruck},
            {Collective::scan, Algorithm::chain},
            {Collective::reduce, Algorithm::tree},
            {Collective::allreduce, Algorithm::split},
            {Collective::reduce_scatter, Algorithm::pairwise}};
  }
  return {{Collective::barrier, Algorithm::flat},       {Collective::bcast, Algorithm::tree},
          {Collective::gather, Algorithm::tree},        {Collective::scatter, Algorithm::tree},
          {Collective::gatherv, Algorithm::tree},       {Collective::scatterv, Algorithm::tree},
          {Collective::allgather, Algorithm::doubling}, {Collective::allgather, Algorithm::leaders},
          {Collective::allgather, Algorithm::bruck},    {Collective::allgatherv, Algorithm::leaders},
          {Collective::allgatherv, Algorithm::ring},    {Collective::allreduce, Algorithm::flat}};
}

class Simulation {
 public:
  explicit Simulation(const std::vector<int32_t>& hosts, const coll::Reducer& reducer = joining, bool leaders = true,
                      Rows rows = Rows::of_default)
      : host_of_rank_(hosts), reducer_(reducer) {
    const auto ranks = static_cast<int32_t>(hosts.size());
    for (int32_t r = 0; r < ranks; ++r) {
      comms_.push_back(std::make_unique<Comm>());
      hosts_.push_back(hosts_seen_by(r, hosts));
      comms_.back()->rank = r;
      comms_.back()->size = ranks;
      if (leaders) comms_.back()->hosts = hosts_.back().get();
    }
    // The communicators find out by themselves, but for those that would take all ranks for those of one host.
    if (rows == Rows::of_default && comms_[0]->hosts != nullptr) return;
    choices_ = coll::compile({.ranks = ranks, .leaders = leaders && hosts_[0] != nullptr}, rows_of(rows));
    for (const auto& comm : comms_) comm->choices = &choices_;
  }

  // Plans for all ranks and performs the steps, round about; false when nobody can go on before all are done.
  bool run(Sends sends, const std::function<void(Schedule&, int)>& plan) {
    schedules_.clear();
    for (size_t r = 0; r < comms_.size(); ++r) {
      schedules_.push_back(std::make_unique<Schedule>(*comms_[r]));
      plan(*schedules_.back(), static_cast<int>(r));
    }
    states_.assign(comms_.size(), {});
    messages_.clear();
    between_hosts_ = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t r = 0; r < comms_.size(); ++r) moved |= advance(r, sends);
    }
    for (size_t r = 0; r < comms_.size(); ++r) {
      if (states_[r].next != schedules_[r]->steps().size() || states_[r].open != 0) return false;
    }
    return true;
  }

  // Messages that went from one host to another.
  int between_hosts() const { return between_hosts_; }

  // Messages that nobody received.
  size_t left_over() const {
    size_t left = 0;
    for (const auto& [way, queue] : messages_) left += queue.size();
    return left;
  }

 private:
  struct State {
    size_t next = 0;
    int open = 0;  // sends and receives under way
    std::map<size_t, std::deque<Block>> receives;
  };
  struct Message {
    Block block;  // read when it is sent, or when it is received: as long as the sender waits for that
    std::vector<char> data;

    void read() {
      data.resize(static_cast<size_t>(block.bytes()));
      datatype::pack(*block.type, block.count, block.data, 0, data.data(), block.bytes());
    }
  };

  bool advance(size_t rank, Sends sends) {
    State& state = states_[rank];
    bool moved = false;
    for (auto& [from, posted] : state.receives) {
      auto& queue = messages_[{from, rank}];
      while (!posted.empty() && !queue.empty()) {
        const Block to = posted.front();
        if (sends == Sends::wait_for_receives) queue.front().read();
        EXPECT_EQ(to.bytes(), static_cast<int64_t>(queue.front().data.size()));
        datatype::unpack(*to.type, to.count, to.data, 0, queue.front().data.data(), to.bytes());
        posted.pop_front();
        queue.pop_front();
        --state.open;
        if (sends == Sends::wait_for_receives) --states_[from].open;
        moved = true;
      }
    }
    const auto& steps = schedules_[rank]->steps();
    while (state.next != steps.size()) {
      const Step& step = steps[state.next];
      if (step.kind == Step::StepKind::fence && state.open != 0) break;
      perform(rank, step, sends);
      ++state.next;
      moved = true;
    }
    return moved;
  }

  void perform(size_t rank, const Step& step, Sends sends) {
    State& state = states_[rank];
    const auto other = static_cast<size_t>(step.rank);
    switch (step.kind) {
      case Step::StepKind::send: {
        Message message{.block = step.from, .data = {}};
        if (sends == Sends::complete_at_once) message.read();
        messages_[{rank, other}].push_back(std::move(message));
        if (host_of_rank_[rank] != host_of_rank_[other]) ++between_hosts_;
        if (sends == Sends::wait_for_receives) ++state.open;
        return;
      }
      case Step::StepKind::receive:
        state.receives[other].push_back(step.to);
        ++state.open;
        return;
      case Step::StepKind::copy:
        EXPECT_EQ(coll::copy_block(step.from, step.to), core::no_error);
        return;
      case Step::StepKind::reduce:
        reducer_.apply(step.from.data, step.to.data, step.from.count);
        return;
      case Step::StepKind::fence:
        return;
      case Step::StepKind::call:
      case Step::StepKind::go:
      case Step::StepKind::wait:
        FAIL() << "no rank can reach another one's memory here";
    }
  }

  std::vector<int32_t> host_of_rank_;
  const coll::Reducer& reducer_;
  int between_hosts_ = 0;
  std::vector<std::unique_ptr<const core::Hosts>> hosts_;
  coll::Choices choices_;
  std::vector<std::unique_ptr<Comm>> comms_;
  std::vector<std::unique_ptr<Schedule>> schedules_;
  std::vector<State> states_;
  std::map<std::pair<size_t, size_t>, std::deque<Message>> messages_;
};

inline Block words(Values& values) {
  return {values.data(), static_cast<int64_t>(values.size()), &word};
}

}  // namespace weft::test
