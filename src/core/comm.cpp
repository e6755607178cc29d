// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/comm.hpp"

#include <mutex>

#include "base/lock.hpp"
#include "boot/job.hpp"
#include "core/world.hpp"

namespace weft::core {

namespace {

// nullptr where collective operations need not know.
const Hosts* hosts_of(Group& group) {
  if (world->job.one_host() || group.size < 3 || !hosts_wanted()) return nullptr;
  static constinit base::Lock lock;
  std::lock_guard guard(lock);
  if (group.hosts == nullptr) {
    auto host_of = [&group](int32_t rank) { return boot::host_of(group.job_rank(rank)); };
    group.hosts = find_hosts(group.rank, group.size, host_of);
  }
  return group.hosts.get();
}

}  // namespace

void address(Comm& comm, const Group& group) {
  comm.size = group.size;
  comm.first = group.first;
  comm.stride = group.stride;
  comm.table = group.table.empty() ? nullptr : group.table.data();
}

void set_context(Comm& comm, uint32_t context) {
  comm.context = context;
  comm.lane_seed = world->lane_map.seed_of(context, comm.rank);
  if (comm.local != nullptr) set_context(*comm.local, context | local_contexts);
}

void describe_comm(Comm& comm, uint32_t context, Group* group) {
  comm.group = group;
  comm.hosts = hosts_of(*group);
  comm.rank = group->rank;
  set_context(comm, context);
  address(comm, *group);
  comm.kind = base::Kind::communicator;
}

}  // namespace weft::core
