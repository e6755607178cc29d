// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Messages of collective operations: on the communicator's collective context, with a tag for each kind of operation.
// All ranks call collectives in the same order and messages of one source and tag keep theirs, so the kind is tag
// enough for blocking operations.

#include "coll/block.hpp"
#include "core/p2p.hpp"

namespace weft::coll {

enum class Tag : int32_t { barrier, bcast, reduce, allreduce, gather, allgather, scatter, alltoall, scan, exscan };

// A contiguous type of one byte, for data that was packed.
extern Type byte_type;

// Keeps the first error of several steps.
inline void note(int32_t& error, int32_t step) {
  if (error == core::no_error) error = step;
}

// Whether ranks of this host outnumber its processors: then switching between them costs more than messages do, and the
// pattern with the fewest ranks to wait for one after the other is the fastest: all sign in at rank 0, which answers.
inline bool crowded() {
  return core::world.job.local_ranks > core::world.job.local_cpus;
}

// The way of one collective operation to other ranks.
class Channel {
 public:
  Channel(core::Comm& comm, Tag tag) : comm_(comm), tag_(static_cast<int32_t>(tag)) {}

  // Blocking steps; errors are collected.
  void send(const void* data, int64_t count, Type& type, int32_t to) {
    note(error_, core::send(comm_, comm_.collective_context(), data, count, type, to, tag_));
  }
  void receive(void* data, int64_t count, Type& type, int32_t from) {
    note(error_, core::receive(comm_, comm_.collective_context(), data, count, type, from, tag_));
  }
  void swap(const void* out, int64_t out_count, Type& out_type, int32_t to, void* in, int64_t in_count, Type& in_type,
            int32_t from) {
    note(error_, core::send_receive(comm_, comm_.collective_context(), out, out_count, out_type, to, in, in_count,
                                    in_type, from, tag_));
  }

  // Steps that go on together until finish(). At most `window` of them at a time: then the oldest is waited for.
  // All ranks pair their steps in the same order, or pair them with a rank that only waits for such steps.
  void start_send(const Block& block, int32_t to);
  void start_receive(const Block& block, int32_t from);
  int32_t finish();

  void note_error(int32_t error) { note(error_, error); }
  int32_t error() const { return error_; }

 private:
  core::Request* place(core::Role role, const Block& block);
  void retire(core::Request* request);

  static constexpr uint32_t window = 64;
  core::Comm& comm_;
  int32_t tag_;
  int32_t error_ = core::no_error;
  uint32_t oldest_ = 0;  // both count up; modulo window is the slot
  uint32_t newest_ = 0;
  core::Request* requests_[window];
};

// A rank's own block, from one place to another. Returns an error class.
[[nodiscard]] int32_t copy_block(const Block& from, const Block& to);

}  // namespace weft::coll
