// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Communicators as core sees them: a context that keeps messages apart, and who its ranks are.

#include <atomic>
#include <memory>
#include <vector>

#include "base/count.hpp"
#include "base/object.hpp"
#include "core/object/hosts.hpp"
#include "transport/api/transport.hpp"

namespace weft::coll {
struct Choices;      // coll/select/select.hpp
class SharedRegion;  // coll/shm/shared_region.hpp
class Offload;       // coll/offload/offload.hpp
}  // namespace weft::coll

namespace weft::core {

struct Neighbours;  // core/object/neighbours.hpp

// The processes of a group by their rank in the job: a formula where there is one, a table otherwise.
struct Group : base::Object {
  int32_t size = 0;
  int32_t rank = -1;  // ours in the group, -1 when we are not in it
  int32_t first = 0;  // job rank of r = first + r * stride, when `table` is empty
  int32_t stride = 1;
  std::vector<int32_t> table;
  std::unique_ptr<const Hosts> hosts;  // found for its first communicator, where hosts make a difference
  base::Object* session = nullptr;     // the session it came from, nullptr in the World model
  int references = 1;                  // handles and communicators
  base::HandleCount handles{0};
  bool predefined = false;

  int32_t job_rank(int32_t r) const { return table.empty() ? first + r * stride : table[static_cast<size_t>(r)]; }
};

// A message that was longer than the memory for it.
struct Truncation {
  int32_t source = 0;
  int64_t sent = 0;
  int64_t room = 0;
};

// The contexts of communicator number n: 2n and 2n + 1, below 2^29, for messages between two ranks and for collective
// operations. Numbers with one of these bits are for messages that must match neither of the two:
inline constexpr uint32_t partitioned_contexts = 1U << 31;  // partitioned communication
inline constexpr uint32_t creation_contexts = 1U << 30;  // communicators made by tag: some ranks, a tag of the user's
inline constexpr uint32_t local_contexts = 1U << 29;     // Comm::local of an intercommunicator

// An intercommunicator has two groups without a common member. The ranks that we send to and receive from are those
// of the other group: `size` and job_rank() speak of them, so messages between two ranks take the same route as
// anywhere. `rank` and `group` are ours in our own group. A collective operation on one has
//  - is_inter(): whether this is one at all;
//  - local_size(), rank, group: our own side;
//  - size, job_rank(), remote: the other side;
//  - collective_context(): both sides share it; since no process is on both, ranks there name the other side's;
//  - local: a communicator of our own side alone, with contexts of its own, for local steps. It is hidden: no program
//    ever has it, and it goes with the intercommunicator;
//  - leads: true on one of the two sides, for what must treat them differently.
struct Comm : base::Object {
  // ---- read for every message
  uint32_t context = 0;  // of point-to-point messages; context + 1 is for collective operations
  int32_t rank = 0;
  int32_t size = 1;   // ranks that can be addressed
  int32_t first = 0;  // job rank of r = first + r * stride, unless there is a table
  int32_t stride = 1;
  const int32_t* table = nullptr;
  bool unordered = false;  // no receive depends on the order of messages with different tags (mpi_assert_ hints)
  // No data of its messages lie on a device, as the program asserts (mpi_assert_memory_alloc_kinds): none is looked at.
  bool host_memory = false;
  // ----
  Group* group = nullptr;   // ours: of an intercommunicator the local one
  Group* remote = nullptr;  // of an intercommunicator, otherwise nullptr
  Comm* local = nullptr;    // of an intercommunicator, otherwise nullptr
  bool leads = false;       // of an intercommunicator
  bool is_inter() const { return remote != nullptr; }
  int32_t local_size() const { return group->size; }
  std::atomic<uint32_t> schedules{0};  // of collective operations, made here so far: coll/plan/schedule.hpp
  bool several_jobs = false;           // it has ranks of another job (core/object/other_jobs.hpp), on either side
  const Hosts* hosts = nullptr;        // of an intracommunicator: the hosts of its group; nullptr: no difference
  // Which algorithms its collective operations take; nullptr until the first of them has found out.
  mutable std::atomic<const coll::Choices*> choices{nullptr};
  coll::SharedRegion* region = nullptr;    // for operations in shared memory; made in the first that wants it
  coll::Offload* offload = nullptr;        // its part in a component that does collective operations
  Truncation truncation;                   // of the last blocking collective operation that had one
  const Neighbours* neighbours = nullptr;  // in its virtual topology, nullptr when it has none
  uint32_t collective_context() const { return context + 1; }
  int32_t job_rank(int32_t r) const {
    if (table == nullptr) [[likely]]
      return first + r * stride;
    return table[r];
  }
};

// Makes `comm` the communicator of `group` (whose reference it takes) with these contexts. It shares the group's table
// and hosts, which are found for its first communicator: making another takes time and memory that do not depend on the
// number of ranks. Thread-safe.
void describe_comm(Comm& comm, uint32_t context, Group* group);

// Whether a group has members of another job.
[[nodiscard]] bool spans_jobs(const Group& group);

// The host of a rank, as a number that is the same for all ranks of it and for no other. Ranks of another job count as
// on another host: they have no shared regions and no shared windows in common with ours.
[[nodiscard]] int32_t host_of(int32_t job_rank);

// Sets the context of a communicator that was made without one.
void set_context(Comm& comm, uint32_t context);

// Makes the members of a group the ranks that `comm` addresses.
void address(Comm& comm, const Group& group);

// Whether a message is no point-to-point message of the program: of a collective operation, or Weft's own.
inline int32_t is_internal(const transport::Envelope& message) {
  return static_cast<int32_t>(message.context & 1);
}

}  // namespace weft::core
