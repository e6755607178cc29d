// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// One event as a callback is told of it; it lives as long as the callbacks run.

#include "core/event.hpp"
#include "mpi/tools/tool.hpp"

namespace weft::mpi::tool {

struct EventInstance : base::Object {
  const EventRow* row = nullptr;
  core::EventData data;
  uint64_t at_ns = 0;
};

// MPI_INFO_NULL, or any info object: no hints are known, and unknown ones have no effect.
[[nodiscard]] bool is_info(MPI_Info info);
// A new info object, empty; an MPI_T_ERR_ code.
[[nodiscard]] int give_info(MPI_Info* info);

}  // namespace weft::mpi::tool
