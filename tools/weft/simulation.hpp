// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations of many ranks without the ranks: the plans that a job performs (coll/plan/plan.hpp) are
// recorded for every rank and played under a model of a machine, by the order of its events. Plans read no data, so
// there are none.
//
// docs/guide/simulate.md

#include <cstdint>
#include <string>
#include <vector>

#include "coll/select/select.hpp"
#include "weft/model.hpp"

namespace weft::tool {

inline constexpr int64_t most_bytes = (int64_t{1} << 40) - 1;  // of a message

struct Operation {
  coll::Collective collective;  // blocks that may differ, as those of gatherv, are of one size here too
  int32_t ranks;
  int32_t ranks_per_host;
  int32_t ranks_per_domain;                           // of a host's NUMA domains
  int64_t bytes;                                      // of a block, or of the data
  coll::Algorithm only = coll::Algorithm::automatic;  // automatic means each
};

enum class Data : uint8_t { unchecked, right, wrong };

struct Outcome {
  coll::Algorithm algorithm = coll::Algorithm::automatic;
  bool is_default = false;
  std::string left_out;  // why; the rest is empty then
  Data data = Data::unchecked;
  double time = 0;  // until the last rank is done
  int64_t messages = 0;
  int64_t bytes_between_hosts = 0;
  int32_t busiest = 0;  // the rank with the most messages, sent and received
  int64_t messages_of_busiest = 0;
  int64_t plan_bytes = 0;  // the largest plan of a rank, as a job keeps it, without its data
};

// One for each algorithm that can do the operation. `room`: for all plans together, in bytes; an algorithm whose plans
// need more is left out.
[[nodiscard]] std::vector<Outcome> simulate(const Operation& operation, const Model& model, int64_t room);

struct Simulated {
  int32_t ranks;
  std::vector<Outcome> outcomes;
};

// An SVG: time over ranks, which rise, a line for each algorithm.
[[nodiscard]] std::string picture_of(const Operation& operation, const std::vector<Simulated>& simulated);

}  // namespace weft::tool
