// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// One call of the program as statistics count it, whichever model it belongs to. A thread has a block of counters of
// its own, or a share in the last one: then it adds atomically.

#include <cstdint>

#include "core/object/comm.hpp"
#include "core/object/identity.hpp"
#include "stats/area.hpp"

namespace weft::observe {

class CountedCall {
 public:
  // `caller` is the return address: in the program, or in a library before this one. `stack` is the stack pointer when
  // the call returns.
  CountedCall(stats::Call call, uintptr_t caller, uintptr_t stack) : call_(call), caller_(caller), stack_(stack) {}
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;

  // The area is there (block.hpp).
  void begin();
  void finish();

 protected:
  // Counts the call for the communicator. Returns the communicator's counters if they are new and want a name.
  stats::CommCounts* count_on(const core::Comm& comm);
  void note_partner(const core::Comm* comm, int rank) { partner_ = in_world(comm, rank); }
  // The rank in the job's world; -1: none, or of processes started apart from ours.
  static int32_t in_world(const core::Comm* comm, int rank) {
    if (comm == nullptr || rank < 0 || rank >= comm->size) return -1;
    const int32_t place = comm->job_rank(rank) - core::identity->first;
    return place >= 0 && place < core::identity->size ? place : -1;
  }
  static void add_message(int32_t rank, uint64_t bytes);
  // The root of a collective operation whose like for all roots in turn is another operation.
  void turns(const core::Comm& comm, int root);

  const stats::Call call_;
  bool detailed_ = false;
  bool of_send_ = false;  // the request that is waited for sends
  enum class Root : uint8_t { none, other, next } root_ = Root::none;
  int32_t partner_ = -1;
  int32_t awaited_ = -1;
  uint64_t bytes_ = 0;

 private:
  template <bool shared>
  void count(uint64_t taken, uint64_t idle);
  void count_details(uint64_t taken, uint64_t idle);

  const uintptr_t caller_;
  const uintptr_t stack_;
  uint64_t since_ = 0;
  uint64_t idle_before_ = 0;
  uint64_t asleep_before_ = 0;
  stats::CommCounts* comm_ = nullptr;
};

}  // namespace weft::observe
