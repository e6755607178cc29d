// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The steps of a blocking collective operation, performed as they are named: see coll/plan/plan.hpp. Messages go on the
// communicator's collective context, with a tag for each kind of operation: all ranks call collectives in the same
// order and messages of one source and tag keep theirs, so the kind is tag enough. Schedules use tags beyond these.

#include "coll/plan/block.hpp"
#include "coll/plan/reducer.hpp"
#include "coll/plan/scratch.hpp"
#include "coll/plan/team.hpp"
#include "coll/select/select.hpp"
#include "core/protocol/p2p.hpp"

namespace weft::coll {

using core::Comm;

enum class Tag : int32_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  allgather,
  scatter,
  alltoall,
  scan,
  exscan,
  creation,
  offload,           // votes about offloaded operations
  offload_failure,   // a rank failed in one
  offload_mock,      // messages of the mock component
  exchange_buffers,  // the founding of those of a communicator, once
};
inline constexpr int32_t first_schedule_tag = 16;

// Keeps the first error of several steps.
inline void note(int32_t& error, int32_t step) {
  if (error == core::no_error) error = step;
}

class Channel {
 public:
  Channel(Comm& comm, Tag tag) : Channel(comm, comm.collective_context(), static_cast<int32_t>(tag)) {}
  // In another context of the communicator.
  Channel(Comm& comm, uint32_t context, int32_t tag) : comm_(comm), context_(context), tag_(tag) {}

  Comm& comm() const { return comm_; }
  // Sends and receives go on together until fence(). At most `window` of them at a time: then the oldest is waited for.
  // All ranks pair their steps in the same order, or pair them with a rank that only waits for such steps.
  void send(const Block& block, int32_t to) { send(block, Member{&comm_, to}); }
  void receive(const Block& block, int32_t from) { receive(block, Member{&comm_, from}); }
  // Members of another communicator are reached in its collective context.
  void send(const Block& block, const Member& to);
  void receive(const Block& block, const Member& from);
  void fence();
  void copy(const Block& from, const Block& to);
  void reduce(const Reducer& reducer, const void* in, void* inout, int64_t count) { reducer.apply(in, inout, count); }
  [[nodiscard]] void* bytes(int64_t size);
  [[nodiscard]] void* elements(const Type& type, int64_t count);

  void note_error(int32_t error) { note(error_, error); }
  // The last step: the error class of all of them.
  [[nodiscard]] int32_t finish();

 private:
  core::Request* place(core::Role role, Comm& comm, const Block& block);
  uint32_t context_of(const Member& member) const {
    return member.comm == &comm_ ? context_ : member.comm->collective_context();
  }
  void retire(core::Request* request);
  [[gnu::cold, gnu::noinline]] void note_failed(const core::Request& request);

  static constexpr uint32_t window = 64;
  Comm& comm_;
  uint32_t context_;
  int32_t tag_;
  int32_t error_ = core::no_error;
  uint32_t oldest_ = 0;  // both count up; modulo window is the slot
  uint32_t newest_ = 0;
  core::Request* requests_[window];
  Scratch scratch_;
};

// A rank's own block, from one place to another. Returns an error class.
[[nodiscard]] int32_t copy_block(const Block& from, const Block& to);

}  // namespace weft::coll
