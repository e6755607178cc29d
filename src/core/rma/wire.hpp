// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The messages between ranks of a window: frames of records from an origin to its target, answers back.
// Fixed-width fields, no padding; all processors are little-endian (transport/net/frame.hpp). Everything begins at a
// multiple of 8 bytes.

#include <cstdint>

#include "core/memory/runs.hpp"

namespace weft::core::rma {

namespace wire {
enum RmaMessageKind : uint8_t {
  records = 16,    // Frame, then records
  records_staged,  // StagedFrame; the records are in staging memory
  answers,         // answers to records
};
}  // namespace wire

enum class Action : uint8_t {
  put = 1,         // the data go to the pieces
  get,             // the pieces come back
  accumulate,      // pieces = pieces op data
  get_accumulate,  // the same, and what was there before comes back
  compare,         // compare and swap: the data are the new value and the one to compare with
  take,            // the data come as a message, with the tag in `position`, to one piece
  give,            // one piece goes as a message
  lock,            // answered when the lock is held; `reduction` is the Lock
  unlock,          // answered when all before it is done
  flush,           // the same without a lock
  post,            // MPI_Win_post
  complete,        // MPI_Win_complete
  meet,            // answered with the TargetShape of the target's window
  nudge,           // the lock that you wait for is free, or a lock of yours that somebody waits for
};

// In the frame itself: transfers are told of apart.
constexpr bool moves_data(Action action) {
  return action <= Action::compare;
}

// It begins a frame of kind wire::records.
struct Frame {
  uint32_t context;  // of the window's communicator; with the generation the window's name (names.hpp)
  uint32_t generation;
  int32_t origin;  // the sender's rank in the window
  uint32_t bytes;  // of the records
};
static_assert(sizeof(Frame) == 16);

// The payload of a message of kind wire::records_staged: the records lie in staging memory.
struct StagedFrame {
  Frame frame;
  uint64_t handle;
  int32_t job_rank;  // the sender's: its staging memory is given back also when the window is not known
  uint32_t unused;
};
static_assert(sizeof(StagedFrame) == 32);

// Followed by `runs` pieces, when there are any, and the data, filled up to a multiple of 8.
struct Record {
  uint64_t offset;    // in the window, in bytes; an address in a dynamic one
  uint64_t cookie;    // the number of the origin's Awaited; 0: no answer is wanted
  uint64_t position;  // of this part's first byte in the packed data of the whole operation; see also Action
  uint32_t bytes;     // of data at the target
  uint32_t runs;      // 0: one piece at `offset`
  Action action;
  uint8_t reduction;  // datatype::Reduction
  uint8_t element;    // datatype::Basic; of an unnamed pair those of its value and its index:
  uint8_t value;
  uint8_t index;
  uint8_t unused[3];
};
static_assert(sizeof(Record) == 40);

using memory::Run;

// The head of an answer; messages of kind wire::answers have several behind each other, each followed by its data.
struct Answer {
  uint64_t cookie;
  uint64_t position;
  uint32_t bytes;
  int32_t error;  // an error class: of anything that the origin asked for since it was last told
};
static_assert(sizeof(Answer) == 24);

// An origin's knowledge of a target.
struct TargetShape {
  uint64_t bytes;
  uint64_t unit;  // of displacements, in bytes
};
static_assert(sizeof(TargetShape) == 16);

constexpr size_t padded(size_t bytes) {
  return (bytes + 7) & ~size_t{7};
}

}  // namespace weft::core::rma
