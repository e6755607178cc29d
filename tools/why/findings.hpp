// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Why a job stands still: from a snapshot to sentences. Nothing here looks at the system.

#include <string>
#include <vector>

#include "why/graph.hpp"

namespace weft::why {

enum class Cause : uint8_t {
  ended,           // a rank is waited for that has ended
  stopped,         // by a signal
  threads_locked,  // all threads of a rank wait for each other, outside of MPI
  mismatch,        // ranks call different collective operations, or with different arguments
  near_miss,       // a message is there that differs from the awaited one
  turned_away,     // ranks wait for each other, and messages were turned away that may have ended that
  deadlock,        // ranks wait for each other
  lock,            // the same, and one of them holds a lock of a window
  starting,        // a rank has not called MPI_Init
  computes,        // a rank uses the processor, and others wait for it
  sleeps,          // a rank sleeps outside of MPI, and others wait for it
  threads,         // a rank waits, and other threads of it may still call MPI
  elsewhere,       // a rank is waited for that was not looked at
  unknown,         // ranks wait, and nothing says why
  not_in_mpi,      // no rank waits in MPI
};

struct Finding {
  Cause cause;
  std::string text;                // one sentence
  std::vector<std::string> lines;  // the places, and what else explains it
  std::vector<int32_t> ranks;      // that the sentence is about
};

// Whether a job can not go on by itself.
[[nodiscard]] bool is_certain(Cause cause);
[[nodiscard]] const char* name(Cause cause);

// The first is the one to look at first; never none.
[[nodiscard]] std::vector<Finding> find_causes(const Snapshot& snapshot);

// Ranks and what they are at, those alike in one line.
[[nodiscard]] std::vector<std::string> describe_ranks(const Snapshot& snapshot);

// The whole as text for people, and as one object of JSON.
[[nodiscard]] std::string as_text(const Snapshot& snapshot);
[[nodiscard]] std::string as_json(const Snapshot& snapshot);

}  // namespace weft::why
