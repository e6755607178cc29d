// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations of UCC, by a context and a team of each group. A context is of one group alone: groups never
// wait for each other, and threads may drive one each.

#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/ucc/library.hpp"

namespace weft::transport::ucc {

// How members exchange small data while their group is made.
class Exchange {
 public:
  enum class ExchangeState : uint8_t { under_way, done, failed };

  // `bytes` of each member at `all`, by place. One at a time; members start them in the same order. False: it failed.
  virtual bool start(const void* mine, size_t bytes, void* all) = 0;
  virtual ExchangeState test() = 0;

 protected:
  ~Exchange() = default;
};

// One thread at a time. An error is final: the group is of no use any more.
class UccCollectiveGroup {
 public:
  UccCollectiveGroup() = default;
  ~UccCollectiveGroup() { close(); }
  UccCollectiveGroup(const UccCollectiveGroup&) = delete;
  UccCollectiveGroup& operator=(const UccCollectiveGroup&) = delete;

  // Makes ours of so many members. finished() tells when it is made; `exchange` stays as long as it may be under way.
  void create(abi::Library* library, int32_t members, int32_t place, Exchange& exchange);

  // Starts an operation; none other is under way. The memory stays until it has finished, or as long as the group.
  void barrier() { start({.collective = abi::CollectiveType::barrier}); }
  void bcast(void* data, size_t bytes, int32_t root) {
    start({.collective = abi::CollectiveType::bcast, .result = data, .count = bytes, .root = root});
  }
  void allreduce(const void* data, void* result, size_t count, abi::Type type, abi::ReductionOp op) {
    start({abi::CollectiveType::allreduce, data, result, count, type, op});
  }
  // Makes progress. True: the creation or operation is done, or has failed.
  [[nodiscard]] bool finished();
  // Something that was started has not ended well: the library may still write to its memory. Such a group ends with
  // the process alone.
  [[nodiscard]] bool may_be_under_way() const { return state_ != UccGroupState::idle; }

  // "ucc_team_create: No resources"; empty: no error.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  struct UccCall {
    abi::CollectiveType collective = abi::CollectiveType::barrier;
    const void* data = nullptr;
    void* result = nullptr;
    size_t count = 0;
    abi::Type type = abi::uint8;
    abi::ReductionOp op = abi::ReductionOp::sum;
    int32_t root = 0;
  };
  bool must(const char* call, abi::Status status);
  void start(const UccCall& call);
  void close();

  enum class UccGroupState : uint8_t { idle, creating, posted, failed };
  UccGroupState state_ = UccGroupState::idle;
  std::string error_;
  abi::Context* context_ = nullptr;
  abi::Team* team_ = nullptr;
  abi::CollectiveRequest* request_ = nullptr;
};

}  // namespace weft::transport::ucc
