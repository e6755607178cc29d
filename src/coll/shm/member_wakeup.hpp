// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Wakes the other members of a communicator on one host for news in memory that they look at.

#include <atomic>
#include <vector>

#include "core/object/comm.hpp"
#include "transport/api/transport.hpp"

namespace weft::coll {

class MemberWakeup {
 public:
  explicit MemberWakeup(const core::Comm& comm) : comm_(comm) {}

  // The endpoints of the members are looked up here once. Where a member is of another world, its process may go before
  // the communicator does: then rouse() looks them up each time.
  void find();

  // Wakes those that sleep. The news were stored before.
  void rouse() const {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // that store stays before the look at the others
    if (!found_) [[unlikely]]
      return rouse_each();
    for (transport::Endpoint* const endpoint : endpoints_) {
      if (endpoint->sleeps()) [[unlikely]]
        endpoint->rouse();
    }
  }

 private:
  void rouse_each() const;

  const core::Comm& comm_;
  std::vector<transport::Endpoint*> endpoints_;
  bool found_ = false;
};

}  // namespace weft::coll
