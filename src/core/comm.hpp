// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Communicators as core sees them: a context that keeps messages apart, and who its ranks are.

#include <memory>
#include <vector>

#include "base/object.hpp"
#include "transport/api/transport.hpp"

namespace weft::core {

// The processes of a group by their rank in the job: a formula where there is one, a table otherwise.
struct Group : base::Object {
  int32_t size = 0;
  int32_t rank = -1;  // ours in the group, -1 when we are not in it
  int32_t first = 0;  // job rank of r = first + r * stride, when `table` is empty
  int32_t stride = 1;
  std::vector<int32_t> table;
  base::Object* session = nullptr;  // the session it came from, nullptr in the World model
  int references = 1;               // handles and communicators
  bool predefined = false;

  int32_t job_rank(int32_t r) const { return table.empty() ? first + r * stride : table[static_cast<size_t>(r)]; }
};

struct Comm : base::Object {
  // ---- read on the road of every message
  uint32_t context = 0;  // of point-to-point messages; context + 1 is for collective operations
  int32_t rank = 0;
  int32_t size = 1;
  int32_t first = 0;  // job rank of r = first + r * stride, unless there is a table
  int32_t stride = 1;
  const int32_t* table = nullptr;
  uint32_t lane_seed = 0;  // LaneMap::seed_of() of what we send
  bool unordered = false;  // no receive depends on the order of messages with different tags (mpi_assert_ hints)
  // ----
  Group* group = nullptr;
  uint32_t collective_context() const { return context + 1; }
  int32_t job_rank(int32_t r) const {
    if (table == nullptr) [[likely]]
      return first + r * stride;
    return table[r];
  }
};

// Whether a message is no point-to-point message of the program: of a collective operation, or Weft's own.
inline int32_t is_internal(const transport::Envelope& message) {
  return static_cast<int32_t>(message.context & 1);
}

}  // namespace weft::core
