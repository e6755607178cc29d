// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/object/comm.hpp"

#include <mutex>

#include "base/lock.hpp"
#include "boot/start/join.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"

namespace weft::core {

namespace {

// nullptr where collective operations need not know.
const Hosts* hosts_of(Group& group) {
  if ((identity->job.one_host() && !spans_jobs(group)) || group.size < 3 || !hosts_wanted()) return nullptr;
  static constinit base::Lock lock;
  std::lock_guard guard(lock);
  if (group.hosts == nullptr) {
    const auto host_of_rank = [&group](int32_t rank) { return host_of(group.job_rank(rank)); };
    group.hosts = find_hosts(group.rank, group.size, host_of_rank);
  }
  return group.hosts.get();
}

}  // namespace

bool spans_jobs(const Group& group) {
  if (!has_met_jobs()) return false;
  for (int32_t r = 0; r < group.size; ++r) {
    if (group.job_rank(r) >= identity->places) return true;
  }
  return false;
}

int32_t host_of(int32_t job_rank) {
  if (job_rank >= identity->places) return block_of(job_rank);
  return identity->job.one_host() ? 0 : boot::host_of(job_rank);
}

void address(Comm& comm, const Group& group) {
  comm.size = group.size;
  comm.first = group.first;
  comm.stride = group.stride;
  comm.table = group.table.empty() ? nullptr : group.table.data();
}

void set_context(Comm& comm, uint32_t context) {
  comm.context = context;
  if (comm.local != nullptr) set_context(*comm.local, context | local_contexts);
}

void describe_comm(Comm& comm, uint32_t context, Group* group) {
  comm.group = group;
  comm.hosts = hosts_of(*group);
  comm.several_jobs = spans_jobs(*group);
  comm.rank = group->rank;
  set_context(comm, context);
  address(comm, *group);
  comm.kind = base::Kind::communicator;
}

}  // namespace weft::core
