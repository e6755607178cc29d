// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/collective.hpp"

#include <cstdlib>
#include <vector>

#include "base/copy.hpp"
#include "coll/coll.hpp"
#include "device/api/device.hpp"
#include "shmem/error.hpp"
#include "shmem/order.hpp"

namespace weft::shmem {
namespace {

using coll::Block;
using coll::Blocks;
using coll::byte_type;

void* unconst(const void* data) {
  return const_cast<void*>(data);
}

Block block(const void* data, size_t bytes) {
  return {unconst(data), static_cast<int64_t>(bytes), &byte_type};
}

Blocks blocks(const void* data, size_t bytes) {
  return {unconst(data), static_cast<int64_t>(bytes), byte_type};
}

void check_root(const char* function, const core::Comm& comm, int root) {
  if (root < 0 || root >= comm.size) bad_pe(function, root, static_cast<uint32_t>(comm.size), "the team");
}

// Collective operations take symmetric memory, which is the host's.
void need_host(const char* function, const void* dest, const void* source) {
  const void* there = device::owns(dest) ? dest : source;
  if (!device::owns(there)) return;
  fail(function, "the address " + address_text(there) + " is memory of a device, which is not symmetric",
       "give memory of shmem_malloc, and put or copy the data there first");
}

// In a team the root gets the data in its `dest` too; in an active set the root's `dest` stays as it is.
void broadcast(const char* function, core::Comm& comm, void* dest, const void* source, size_t bytes, int root,
               bool to_root) {
  check_root(function, comm, root);
  need_host(function, dest, source);
  const bool is_root = comm.rank == root;
  check(function, coll::bcast(comm, is_root ? unconst(source) : dest, static_cast<int64_t>(bytes), byte_type, root));
  if (is_root && to_root && dest != source && bytes != 0) base::copy(dest, source, bytes);
}

void collect(const char* function, core::Comm& comm, void* dest, const void* source, size_t bytes) {
  need_host(function, dest, source);
  const auto size = static_cast<size_t>(comm.size);
  std::vector<int64_t> counts(size);
  std::vector<int64_t> places(size);
  const auto mine = static_cast<int64_t>(bytes);
  check(function, coll::allgather(comm, block(&mine, sizeof mine), blocks(counts.data(), sizeof mine)));
  for (size_t i = 1; i < size; ++i) places[i] = places[i - 1] + counts[i - 1];
  const auto rank = static_cast<size_t>(comm.rank);
  const bool in_place = static_cast<char*>(dest) + places[rank] == source;
  const Blocks all(dest, coll::Array(counts.data()), coll::Array(places.data()), byte_type);
  check(function, coll::allgather(comm, in_place ? Block{} : block(source, bytes), all));
}

void fcollect(const char* function, core::Comm& comm, void* dest, const void* source, size_t bytes) {
  need_host(function, dest, source);
  const bool in_place = static_cast<char*>(dest) + static_cast<size_t>(comm.rank) * bytes == source;
  check(function, coll::allgather(comm, in_place ? Block{} : block(source, bytes), blocks(dest, bytes)));
}

// All PEs give the same symmetric address, so they agree on where it lies.
void alltoall(const char* function, core::Comm& comm, void* dest, const void* source, size_t bytes) {
  need_host(function, dest, source);
  const bool in_heap = reinterpret_cast<uintptr_t>(source) - state.heap < state.heap_bytes;
  check(function,
        coll::alltoall(comm, dest == source ? Blocks() : blocks(source, bytes), blocks(dest, bytes), in_heap));
}

// Memory for packed elements; nullptr: there is none.
class PackBuffer {
 public:
  explicit PackBuffer(size_t bytes)
      : data_(bytes > PTRDIFF_MAX ? nullptr : static_cast<char*>(std::malloc(bytes + 1))) {}
  ~PackBuffer() { std::free(data_); }
  PackBuffer(const PackBuffer&) = delete;
  PackBuffer& operator=(const PackBuffer&) = delete;
  char* get() const { return data_; }

 private:
  char* data_;
};

// Elements at distances are packed.
void alltoalls(const char* function, core::Comm& comm, void* dest, const void* source, const Stride& stride) {
  need_host(function, dest, source);
  if (stride.dst < 1 || stride.sst < 1) {
    fail(function, "a distance between elements is less than 1", "give distances of at least 1 element");
  }
  const size_t count = stride.blocks * static_cast<size_t>(comm.size);
  const size_t bytes = bytes_of(count, stride.element);
  const PackBuffer packed(bytes);
  const PackBuffer came(bytes);
  if (packed.get() == nullptr || came.get() == nullptr) check(function, core::no_memory);
  const size_t from_step = static_cast<size_t>(stride.sst) * stride.element;
  const size_t to_step = static_cast<size_t>(stride.dst) * stride.element;
  for (size_t i = 0; i < count; ++i) {
    base::copy(packed.get() + i * stride.element, static_cast<const char*>(source) + i * from_step, stride.element);
  }
  const size_t each = stride.blocks * stride.element;
  check(function, coll::alltoall(comm, blocks(packed.get(), each), blocks(came.get(), each)));
  for (size_t i = 0; i < count; ++i) {
    base::copy(static_cast<char*>(dest) + i * to_step, came.get() + i * stride.element, stride.element);
  }
}

struct KernelReducer : coll::Reducer {
  datatype::Kernel kernel = nullptr;
};

KernelReducer reducer(Reduction reduction, Basic basic) {
  KernelReducer made;
  made.function = [](const coll::Reducer& self, const void* in, void* inout, int64_t count) {
    static_cast<const KernelReducer&>(self).kernel(in, inout, count);
  };
  made.type = &type_of(basic);
  made.kernel = datatype::kernel(reduction, basic);
  made.reduction = reduction;
  return made;
}

void reduce(const char* function, core::Comm& comm, void* dest, const void* source, size_t count, Reduction reduction,
            Basic basic) {
  need_host(function, dest, source);
  check(function, coll::allreduce(comm, source, dest, static_cast<int64_t>(count), reducer(reduction, basic)));
}

}  // namespace

int team_sync(const char* function, shmem_team_t team) {
  check(function, coll::barrier(team_of(function, team).comm));
  return 0;
}

int broadcast(const char* function, shmem_team_t team, void* dest, const void* source, size_t bytes, int root) {
  broadcast(function, team_of(function, team).comm, dest, source, bytes, root, true);
  return 0;
}

int collect(const char* function, shmem_team_t team, void* dest, const void* source, size_t bytes) {
  collect(function, team_of(function, team).comm, dest, source, bytes);
  return 0;
}

int fcollect(const char* function, shmem_team_t team, void* dest, const void* source, size_t bytes) {
  fcollect(function, team_of(function, team).comm, dest, source, bytes);
  return 0;
}

int alltoall(const char* function, shmem_team_t team, void* dest, const void* source, size_t bytes) {
  alltoall(function, team_of(function, team).comm, dest, source, bytes);
  return 0;
}

int alltoalls(const char* function, shmem_team_t team, void* dest, const void* source, const Stride& stride) {
  alltoalls(function, team_of(function, team).comm, dest, source, stride);
  return 0;
}

int reduce(const char* function, shmem_team_t team, void* dest, const void* source, size_t count, Reduction reduction,
           Basic basic) {
  reduce(function, team_of(function, team).comm, dest, source, count, reduction, basic);
  return 0;
}

int inscan(const char* function, shmem_team_t team, void* dest, const void* source, size_t count, Basic basic) {
  need_host(function, dest, source);
  core::Comm& comm = team_of(function, team).comm;
  check(function, coll::scan(comm, source, dest, static_cast<int64_t>(count), reducer(Reduction::sum, basic)));
  return 0;
}

// The first PE gets zeros, which an exclusive scan of coll leaves to its caller.
int exscan(const char* function, shmem_team_t team, void* dest, const void* source, size_t count, Basic basic) {
  need_host(function, dest, source);
  core::Comm& comm = team_of(function, team).comm;
  check(function, coll::exscan(comm, source, dest, static_cast<int64_t>(count), reducer(Reduction::sum, basic)));
  if (comm.rank == 0) std::memset(dest, 0, count * static_cast<size_t>(type_of(basic).size));
  return 0;
}

// ---- On active sets

void barrier_in(const char* function, const ActiveSet& set) {
  ShmemTeam& team = team_of(function, set);
  quiet(function);
  check(function, coll::barrier(team.comm));
}

void sync_in(const char* function, const ActiveSet& set) {
  check(function, coll::barrier(team_of(function, set).comm));
}

void broadcast_in(const char* function, const ActiveSet& set, void* dest, const void* source, size_t bytes, int root) {
  broadcast(function, team_of(function, set).comm, dest, source, bytes, root, false);
}

void collect_in(const char* function, const ActiveSet& set, void* dest, const void* source, size_t bytes) {
  collect(function, team_of(function, set).comm, dest, source, bytes);
}

void fcollect_in(const char* function, const ActiveSet& set, void* dest, const void* source, size_t bytes) {
  fcollect(function, team_of(function, set).comm, dest, source, bytes);
}

void alltoall_in(const char* function, const ActiveSet& set, void* dest, const void* source, size_t bytes) {
  alltoall(function, team_of(function, set).comm, dest, source, bytes);
}

void alltoalls_in(const char* function, const ActiveSet& set, void* dest, const void* source, const Stride& stride) {
  alltoalls(function, team_of(function, set).comm, dest, source, stride);
}

void reduce_in(const char* function, const ActiveSet& set, void* dest, const void* source, int count,
               Reduction reduction, Basic basic) {
  if (count < 0) fail(function, "nreduce is " + std::to_string(count), "give a number of elements");
  reduce(function, team_of(function, set).comm, dest, source, static_cast<size_t>(count), reduction, basic);
}

}  // namespace weft::shmem
