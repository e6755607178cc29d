// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A rank's way to itself: a message is handed to the receiving side during the send.

#include <cstring>
#include <new>

#include "transport/api/transport.hpp"

namespace weft::transport::self {

class SelfEndpoint final : public Endpoint {
 public:
  SelfEndpoint(Sink sink, int rank, LaneMap lanes) : sink_(sink), rank_(rank), lanes_(lanes) {}

  LaneMap lanes() const override { return lanes_; }

  Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) override {
    sink_(Arrival{kind, envelope, data, bytes, rank_});
    return Post::done;
  }
  Post send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging&, size_t) override {
    return send(kind, envelope, data, bytes);
  }
  int get(const MemoryRef& from, void* to, size_t bytes) override {
    std::memmove(to, reinterpret_cast<const void*>(from.address), bytes);
    return 0;
  }
  int put(const MemoryRef& to, const void* from, size_t bytes) override {
    std::memmove(reinterpret_cast<void*>(to.address), from, bytes);
    return 0;
  }
  // Staging memory is named by its address here.
  std::optional<const void*> staging(const Arrival&, uint64_t handle, size_t) override {
    return reinterpret_cast<const void*>(handle);
  }
  void release_staging(uint64_t handle, size_t) override { delete[] reinterpret_cast<char*>(handle); }

 private:
  Sink sink_;
  int rank_;
  LaneMap lanes_;
};

class SelfTransport final : public Transport {
 public:
  explicit SelfTransport(Sink sink, int rank = 0, LaneMap lanes = {}) : rank_(rank), endpoint_(sink, rank, lanes) {
    capabilities_ = {.same_process = true,
                     .names_senders = true,
                     .drains = true,
                     .get_put = true,
                     .read = true,
                     .staging_most = SIZE_MAX};
  }

  const char* name() const override { return "self"; }
  bool reaches(int rank) const override { return rank == rank_; }
  Endpoint* connect(int) override { return &endpoint_; }
  int poll(uint32_t, Sink) override { return 0; }
  bool looks_empty(uint32_t) const override { return true; }
  Staging reserve_staging(size_t bytes) override {
    char* memory = new (std::nothrow) char[bytes];
    return {memory, reinterpret_cast<uint64_t>(memory)};
  }
  void drop_staging(const Staging& staging, size_t) override { delete[] static_cast<char*>(staging.memory); }

 private:
  int rank_;
  SelfEndpoint endpoint_;
};

}  // namespace weft::transport::self
