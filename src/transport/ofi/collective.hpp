// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations of libfabric, by a group of endpoints, one of each member. An endpoint is of one group alone,
// and so are its queues: groups never wait for each other, threads may drive one each, and to close an endpoint ends
// all that its group has under way.

#include <rdma/fi_collective.h>

#include <cstdint>
#include <string>
#include <vector>

#include "transport/ofi/library.hpp"

namespace weft::transport::ofi {

// A provider with collective operations, at the first address of this host that has one: to be given to freeinfo().
// nullptr: there is none, or no library; `why_not` says so.
[[nodiscard]] fi_info* find_collectives(std::string& why_not);
// "tcp;ofi_rxm at 10.0.0.1": for people.
[[nodiscard]] std::string name_of(const fi_info& info);

// The name of an endpoint, as members tell it to each other; of no bytes: there is none.
struct MemberName {
  uint32_t bytes = 0;
  unsigned char text[124] = {};
};

// One thread at a time. An error is final: the group is of no use any more.
class OfiCollectiveGroup {
 public:
  explicit OfiCollectiveGroup(fi_info& info);
  ~OfiCollectiveGroup() { close(); }
  OfiCollectiveGroup(const OfiCollectiveGroup&) = delete;
  OfiCollectiveGroup& operator=(const OfiCollectiveGroup&) = delete;

  [[nodiscard]] MemberName name();
  // The names of all members, ours at `place`. finished() tells when all have joined.
  void join(const std::vector<MemberName>& names);

  // The number of elements that one operation may have, which is 1 for a barrier; 0: it is not offered.
  [[nodiscard]] size_t most(fi_collective_op what, fi_datatype type, fi_op op);

  // Starts an operation; none other is under way. The memory stays until it has finished, or the group is closed.
  void barrier() { start({.what = FI_BARRIER}); }
  void bcast(void* data, size_t bytes, int32_t root) {
    start({.what = FI_BROADCAST, .result = data, .count = bytes, .type = FI_UINT8, .root = root});
  }
  void allreduce(const void* data, void* result, size_t count, fi_datatype type, fi_op op) {
    start({.what = FI_ALLREDUCE, .data = data, .result = result, .count = count, .type = type, .op = op});
  }
  // Makes progress. True: the operation is done, or has failed.
  [[nodiscard]] bool finished();

  // "fi_join: Connection refused"; empty: no error.
  [[nodiscard]] const std::string& error() const { return error_; }

  // Nothing is under way afterwards.
  void close();

 private:
  struct OfiCall {
    fi_collective_op what = FI_BARRIER;
    const void* data = nullptr;
    void* result = nullptr;
    size_t count = 0;
    fi_datatype type = FI_UINT8;
    fi_op op = FI_SUM;
    int32_t root = 0;
  };
  bool must(const char* call, int64_t result);
  void start(const OfiCall& call);
  void post();
  bool read_completions();
  bool read_events();

  enum class OfiGroupState : uint8_t { idle, joining, unposted, posted };
  OfiGroupState state_ = OfiGroupState::idle;
  OfiCall call_;
  fi_addr_t address_ = FI_ADDR_UNSPEC;  // of the group
  fi_context context_ = {};
  std::string error_;

  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_av_set* members_ = nullptr;
  fid_mc* group_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_eq* events_ = nullptr;
  fid_ep* endpoint_ = nullptr;
};

}  // namespace weft::transport::ofi
