// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The plans of every rank of an operation that is simulated.

#include <vector>

#include "coll/plan/plan.hpp"
#include "coll/plan/schedule.hpp"
#include "weft/simulation.hpp"

namespace weft::tool {

// A communicator that is every rank in turn, with one algorithm for the collective.
class Planner {
 public:
  Planner(const Operation& operation, coll::Algorithm algorithm) : operation_(operation) {
    const int32_t ranks = operation.ranks;
    const int32_t per_host = operation.ranks_per_host;
    comm_.size = ranks;
    if (per_host > 1 && per_host < ranks) {
      for (int32_t r = 0; r < ranks; r += per_host) hosts_.starts.push_back(r);
      hosts_.starts.push_back(ranks);
      comm_.hosts = &hosts_;
    }
    const coll::Shape shape{.ranks = ranks,
                            .hosts = (ranks + per_host - 1) / per_host,
                            .ranks_per_host = per_host,
                            .leaders = comm_.hosts != nullptr};
    std::vector<coll::Row> rows;
    if (algorithm != coll::Algorithm::automatic) rows.push_back({operation.collective, algorithm});
    choices_ = coll::compile(shape, rows);
    comm_.choices = &choices_;
    places_.resize(differ() ? static_cast<size_t>(ranks) : 0);
    for (size_t r = 0; r < places_.size(); ++r) places_[r] = static_cast<int64_t>(r) * operation.bytes;
    reducer_.type = &coll::byte_type;
  }

  bool has_leaders() const { return comm_.hosts != nullptr; }
  // The algorithm that the default rows give.
  coll::Algorithm chosen(int64_t bytes, coll::Algorithms able) const {
    return choices_.choose(operation_.collective, bytes, able);
  }

  // The steps of a rank, as a schedule would perform them; false: there was no memory for the data of a plan.
  bool plan(int32_t rank, std::vector<coll::Step>& steps) {
    comm_.rank = rank;
    if (comm_.hosts != nullptr) {
      hosts_.host = rank / operation_.ranks_per_host;
      hosts_.place = rank % operation_.ranks_per_host;
    }
    coll::Schedule schedule(comm_);
    name_steps(schedule);
    steps = schedule.steps();
    return schedule.error() == core::no_error;
  }

  // Nobody follows these addresses; they differ, as in a program.
  static void* data(uintptr_t at) { return reinterpret_cast<void*>(at << 44); }
  static constexpr uintptr_t in = 1;
  static constexpr uintptr_t out = 2;

 private:
  bool differ() const { return coll::regular_form(operation_.collective) != operation_.collective; }
  coll::Blocks blocks(uintptr_t at) {
    if (!differ()) return {data(at), operation_.bytes, coll::byte_type};
    return {data(at), coll::Array(operation_.bytes), coll::Array(places_.data()), coll::byte_type};
  }

  void name_steps(coll::Schedule& s) {
    void* const from = data(in);
    void* const to = data(out);
    const coll::Block block{from, operation_.bytes, &coll::byte_type};
    switch (coll::regular_form(operation_.collective)) {
      case coll::Collective::barrier:
        return coll::plan::barrier(s);
      case coll::Collective::bcast:
        return coll::plan::bcast(s, block, 0);
      case coll::Collective::gather:
        return coll::plan::gather(s, block, blocks(out), 0);
      case coll::Collective::scatter:
        return coll::plan::scatter(s, blocks(out), block, 0);
      case coll::Collective::allgather:
        return coll::plan::allgather(s, block, blocks(out));
      case coll::Collective::alltoall:
        return coll::plan::alltoall(s, blocks(in), blocks(out));
      case coll::Collective::reduce:
        return coll::plan::reduce(s, from, to, operation_.bytes, reducer_, 0);
      case coll::Collective::allreduce:
        return coll::plan::allreduce(s, from, to, operation_.bytes, reducer_);
      case coll::Collective::reduce_scatter:
        return coll::plan::reduce_scatter(s, from, to, coll::Array(operation_.bytes), reducer_);
      case coll::Collective::scan:
        return coll::plan::scan(s, from, to, operation_.bytes, reducer_);
      default:
        return;
    }
  }

  Operation operation_;
  core::Comm comm_;
  core::Hosts hosts_;
  coll::Choices choices_;
  coll::Reducer reducer_;
  std::vector<int64_t> places_;
};

}  // namespace weft::tool
