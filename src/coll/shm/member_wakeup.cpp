// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/member_wakeup.hpp"

#include "core/dynamic/processes.hpp"
#include "core/peer/peer.hpp"

namespace weft::coll {
namespace {

transport::Endpoint* way_to(int32_t job_rank) {
  return core::peers->of(job_rank).endpoint;
}

}  // namespace

void MemberWakeup::find() {
  for (int32_t r = 0; r < comm_.size; ++r) {
    if (r != comm_.rank && core::is_foreign(comm_.job_rank(r))) return;
  }
  for (int32_t r = 0; r < comm_.size; ++r) {
    if (r != comm_.rank) endpoints_.push_back(way_to(comm_.job_rank(r)));
  }
  found_ = true;
}

void MemberWakeup::rouse_each() const {
  for (int32_t r = 0; r < comm_.size; ++r) {
    if (r == comm_.rank) continue;
    transport::Endpoint* const endpoint = way_to(comm_.job_rank(r));
    if (endpoint->sleeps()) endpoint->rouse();
  }
}

}  // namespace weft::coll
