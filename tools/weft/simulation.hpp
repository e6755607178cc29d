// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations of many ranks without the ranks: the plans that a job performs (coll/plan.hpp) are recorded for
// every rank and played under a model of a machine, by the order of its events. Plans read no data, so there are none.
//
// The model is LogGP with hosts. A rank is busy for `overhead` with each send and each receive; a message needs
// `latency` and `per_byte` for each of its bytes. The ranks of a host share one network interface, which one message at
// a time leaves and one enters, for `gap` and its bytes' time each. Sends do not wait for receives.
//
// docs/simulate.md

#include <cstdint>
#include <string>
#include <vector>

#include "coll/select.hpp"

namespace weft::tool {

// In seconds, and seconds for each byte.
struct Wire {
  double latency;
  double overhead;
  double per_byte;
};

struct Model {
  Wire within{300e-9, 80e-9, 0.1e-9};  // a host
  Wire between{2.5e-6, 400e-9, 0.08e-9};
  double gap = 100e-9;    // of a network interface, between two messages
  double unexpected = 0;  // for a message that comes before its receive
  double incast = 0;      // for a message from another host that finds others waiting to enter
  double copy = 0.1e-9;   // for each byte, as for a reduction
};

inline constexpr int64_t most_bytes = (int64_t{1} << 40) - 1;  // of a message

struct Operation {
  coll::Collective collective;  // blocks that may differ, as those of gatherv, are of one size here too
  int32_t ranks;
  int32_t ranks_per_host;
  int64_t bytes;                                      // of a block, or of the data
  coll::Algorithm only = coll::Algorithm::automatic;  // automatic: each
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

}  // namespace weft::tool
