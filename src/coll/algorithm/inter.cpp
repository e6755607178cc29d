// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithm/inter.hpp"

#include "coll/plan/plan.hpp"

namespace weft::coll::inter {

namespace {

// Steps among our own group, between two fences.
template <class Steps>
void locally(Schedule& s, Steps&& steps) {
  Comm& comm = s.comm();
  s.fence();
  s.use(*comm.local);
  steps();
  s.use(comm);
  s.fence();
}

// Visits the other group's ranks, each of ours beginning with another one.
template <class Visit>
void for_each_opposite(const Comm& comm, Visit&& visit) {
  for (int32_t i = 0; i < comm.size; ++i) visit((comm.rank + i) % comm.size);
}

// Our group's result, at its rank 0; nullptr elsewhere, and when there is no memory.
void* reduce_locally(Schedule& s, const void* send, int64_t count, const Reducer& reducer) {
  void* result = s.comm().rank == 0 ? s.elements(*reducer.type, count) : nullptr;
  if (s.error() == core::no_error) locally(s, [&] { plan::reduce(s, send, result, count, reducer, 0); });
  return result;
}

// The two groups' rank 0 exchange their data.
void trade(Schedule& s, const Block& out, const Block& in) {
  if (s.comm().rank != 0) return;
  s.receive(in, 0);
  s.send(out, 0);
}

}  // namespace

void barrier(Schedule& s) {
  const Block nothing{nullptr, 0, &byte_type};
  locally(s, [&] { plan::barrier(s); });
  trade(s, nothing, nothing);
  locally(s, [&] { plan::barrier(s); });
}

void bcast(Schedule& s, const Block& data, const RootPart& part) {
  if (data.bytes() == 0 || part.kind == RootPart::RootRole::beside_root) return;
  if (part.kind == RootPart::RootRole::root) return s.send(data, 0);
  if (s.comm().rank == 0) s.receive(data, part.root);
  locally(s, [&] { plan::bcast(s, data, 0); });
}

void gather(Schedule& s, const Block& mine, const Blocks& all, const RootPart& part) {
  if (part.kind == RootPart::RootRole::opposite && mine.bytes() > 0) s.send(mine, part.root);
  if (part.kind != RootPart::RootRole::root) return;
  for (int32_t r = 0; r < s.comm().size; ++r) {
    if (all[r].bytes() > 0) s.receive(all[r], r);
  }
}

void scatter(Schedule& s, const Blocks& all, const Block& mine, const RootPart& part) {
  if (part.kind == RootPart::RootRole::opposite && mine.bytes() > 0) s.receive(mine, part.root);
  if (part.kind != RootPart::RootRole::root) return;
  for (int32_t r = 0; r < s.comm().size; ++r) {
    if (all[r].bytes() > 0) s.send(all[r], r);
  }
}

void allgather(Schedule& s, const Block& mine, const Blocks& all) {
  for_each_opposite(s.comm(), [&](int32_t r) {
    if (all[r].bytes() > 0) s.receive(all[r], r);
  });
  for_each_opposite(s.comm(), [&](int32_t r) {
    if (mine.bytes() > 0) s.send(mine, r);
  });
}

void alltoall(Schedule& s, const Blocks& from, const Blocks& to) {
  for_each_opposite(s.comm(), [&](int32_t r) {
    if (to[r].bytes() > 0) s.receive(to[r], r);
  });
  for_each_opposite(s.comm(), [&](int32_t r) {
    if (from[r].bytes() > 0) s.send(from[r], r);
  });
}

void reduce(Schedule& s, const void* send, void* receive, int64_t count, const Reducer& reducer, const RootPart& part) {
  if (count * reducer.type->size == 0 || part.kind == RootPart::RootRole::beside_root) return;
  if (part.kind == RootPart::RootRole::root) return s.receive(plan::elements_at(receive, count, reducer), 0);
  const void* result = reduce_locally(s, send, count, reducer);
  if (s.comm().rank == 0) s.send(plan::elements_at(result, count, reducer), part.root);
}

// Each group gets the other one's result.
void allreduce(Schedule& s, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  if (count * reducer.type->size == 0) return;
  const void* result = reduce_locally(s, send, count, reducer);
  const Block theirs = plan::elements_at(receive, count, reducer);
  trade(s, plan::elements_at(result, count, reducer), theirs);
  locally(s, [&] { plan::bcast(s, theirs, 0); });
}

void reduce_scatter(Schedule& s, const void* send, void* receive, const Array& counts, const Reducer& reducer) {
  const Comm& local = *s.comm().local;
  Type& type = *reducer.type;
  auto* starts = static_cast<int64_t*>(s.bytes(local.size * static_cast<int64_t>(sizeof(int64_t))));
  if (starts == nullptr) return;
  int64_t total = 0;
  for (int32_t r = 0; r < local.size; ++r) {
    starts[r] = total;
    total += counts[r];
  }
  if (total * type.size == 0) return;
  const void* result = reduce_locally(s, send, total, reducer);
  void* theirs = local.rank == 0 ? s.elements(type, total) : nullptr;
  if (s.error() != core::no_error) return;
  trade(s, plan::elements_at(result, total, reducer), plan::elements_at(theirs, total, reducer));
  const Blocks all(theirs, counts, Array(starts), type);
  locally(s, [&] { plan::scatter(s, all, plan::elements_at(receive, counts[local.rank], reducer), 0); });
}

}  // namespace weft::coll::inter
