// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ways to ranks of jobs of other hosts (docs/design/spawn.md, "Two hosts"): a transport for each such job, with a
// secret that the two jobs share and nobody else. Here they are polled, and waited for, as one.
//
// Between two jobs ranks are numbered anew: the places of the senior job come first, those of the other one behind
// them. The process knows a rank of the other job by its place in a block of ranks.

#include <array>
#include <atomic>

#include "transport/net/opening.hpp"
#include "transport/net/socket.hpp"

namespace weft::transport::net {

class FarJobs final : public Transport {
 public:
  // Blocks of `block` ranks, a power of two, from `first` on. Ends the job with a message when there is no descriptor.
  FarJobs(int first, int block);
  ~FarJobs() override;

  // The result is how the other job's processes reach this one. One thread at a time; there is none for `job.first`.
  [[nodiscard]] std::string add(const FarJob& job, LaneMap lanes);
  // No thread polls, and no endpoint of it is used any more.
  void drop(int first);
  // nullptr: the rank is of no such job.
  Transport* to(int rank) const;

  const char* name() const override { return "jobs of other hosts"; }
  bool reaches(int rank) const override { return to(rank) != nullptr; }
  Endpoint* connect(int rank) override { return to(rank)->connect(rank); }
  int poll(uint32_t lane, Sink sink) override;
  bool looks_empty(uint32_t /*lane*/) const override { return false; }
  Staging reserve_staging(size_t /*bytes*/) override { return {}; }
  void drop_staging(const Staging& /*staging*/, size_t /*bytes*/) override {}
  void set_congested(bool on) override;
  int wait_descriptor() const override { return all_.descriptor(); }
  bool may_sleep() override;
  bool all_sent() const override;
  void leave() override;

 private:
  static constexpr size_t most = 64;
  size_t index_of(int rank) const { return static_cast<size_t>((rank - first_) / block_); }

  const int first_;
  const int block_;
  Socket all_;  // an epoll descriptor of their descriptors
  std::atomic<size_t> end_ = 0;
  std::array<std::atomic<Transport*>, most> ways_ = {};
};

}  // namespace weft::transport::net
