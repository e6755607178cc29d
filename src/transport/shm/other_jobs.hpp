// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The route to ranks of other jobs of this host, by their segments (docs/design/spawn.md, "Two jobs"). Messages go into
// the rings there; all that is ours (rings, staging buffers, sleep) is that of our own job's transport. Core adds a job
// when it connects to one, and numbers its ranks: the ranks of one job are a block, in which a rank's place comes last.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "transport/shm/transport.hpp"

namespace weft::transport::shm {

class OtherJobs final : public Transport {
 public:
  // Blocks begin at multiples of `block`, a power of two.
  OtherJobs(ShmTransport& home, int block) : home_(home), block_(block) { capabilities_ = home.capabilities(); }
  ~OtherJobs() override;

  const char* name() const override { return "shm of another job"; }
  bool reaches(int rank) const override;
  Endpoint* connect(int rank) override;
  void forget(int rank) override;

  // A job of so many places, whose ranks begin at `first`; the descriptor of its segment is closed with it. False: its
  // memory is laid out in another way than under our settings, and the descriptor stays the caller's.
  [[nodiscard]] bool add(int first, int places, int segment_fd);
  // No endpoint to one of its ranks is used any more.
  void drop(int first);

  // Messages arrive over our own job's transport.
  int poll(uint32_t /*lane*/, Sink /*sink*/) override { return 0; }
  bool looks_empty(uint32_t /*lane*/) const override { return true; }

  Staging reserve_staging(size_t bytes) override { return home_.reserve_staging(bytes); }
  void drop_staging(const Staging& staging, size_t bytes) override { home_.drop_staging(staging, bytes); }
  MemoryRef register_memory(void* address, size_t bytes, Access access) override {
    return home_.register_memory(address, bytes, access);
  }
  Claim* claim(uint32_t slot) override { return home_.claim(slot); }

 private:
  struct OtherJobMemory {
    int places;
    base::Descriptor segment;
    SegmentLayout layout;
    std::unique_ptr<SharedStaging> shared_staging;  // if its ranks share it
    std::map<int, char*> regions;                   // of ranks that were contacted, by place
    std::map<int, std::unique_ptr<ShmEndpoint>> endpoints;
  };
  int first_of(int rank) const { return rank & ~(block_ - 1); }
  void fail_at(int rank, const char* why, int error) const;

  ShmTransport& home_;
  int block_;
  mutable std::mutex mutex_;
  std::map<int, std::unique_ptr<OtherJobMemory>> jobs_;  // by the first rank
};

}  // namespace weft::transport::shm
