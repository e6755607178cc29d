// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// WEFT_OFFLOAD=mock names a component without a fabric. It tests the code that calls components: its operations go by
// messages with a tag of their own, along a binomial tree at rank 0.
#include <atomic>
#include <cstring>
#include <new>

#include "coll/offload/faults.hpp"
#include "coll/offload/offload.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/pattern.hpp"

namespace weft::coll::offload {

namespace {

struct MockGroup {
  const int32_t rank;
  int64_t done = 0;
};

void* join(core::Comm& comm) {
  if (comm.rank == faults().alone) return nullptr;
  return new (std::nothrow) MockGroup{comm.rank};
}

void leave(void* group) {
  delete static_cast<MockGroup*>(group);
}

bool can(void* /*group*/, const OffloadOperation& operation) {
  return faults().takes(operation);
}

void bcast(Channel& channel, const OffloadOperation& operation) {
  const Block data{operation.receive, operation.count, operation.type};
  plan::spread(channel, Everybody(operation.comm), data, operation.root);
}

void allreduce(Channel& channel, const OffloadOperation& operation) {
  const Reducer& reducer = *operation.reducer;
  const auto part = [&](const void* data) { return plan::elements_at(data, operation.count, reducer); };
  void* spare = channel.elements(*operation.type, operation.count);
  if (spare == nullptr) return;
  void* mine = operation.receive;
  channel.copy(part(operation.send), part(mine));
  plan::collect(channel, Everybody(operation.comm), mine, spare, operation.count, reducer, 0);
  channel.fence();
  if (operation.comm.rank == 0 && mine != operation.receive) channel.copy(part(mine), part(operation.receive));
  plan::spread(channel, Everybody(operation.comm), part(operation.receive), 0);
}

// A fabric that fails may leave anything behind.
void spoil(const OffloadOperation& operation) {
  const bool has_data = operation.collective == Collective::bcast && operation.comm.rank == operation.root;
  if (operation.type == nullptr || has_data || !operation.type->contiguous) return;
  std::memset(operation.receive, 0xa5, static_cast<size_t>(operation.bytes()));
}

// A rank that fails has done its part, so that the others end.
OffloadOutcome perform(void* group, const OffloadOperation& operation) {
  Channel channel(operation.comm, Tag::offload_mock);
  switch (operation.collective) {
    case Collective::bcast:
      bcast(channel, operation);
      break;
    case Collective::allreduce:
      allreduce(channel, operation);
      break;
    default: {
      const Block nothing{nullptr, 0, &byte_type};
      plan::disseminate(channel, Everybody(operation.comm), nothing, nothing, [] {});
    }
  }
  if (channel.finish() != core::no_error) return {false, "its messages failed"};
  auto& ours = *static_cast<MockGroup*>(group);
  if (!faults().fail_at(ours.done++, ours.rank)) return {};
  spoil(operation);
  return {false, "WEFT_OFFLOAD_FAULTS says so"};
}

ComponentState state() {
  return {true, "no fabric: messages along a binomial tree, for tests"};
}

constexpr Component mock{
    .name = "mock", .open = read_faults, .state = state, .join = join, .leave = leave, .can = can, .perform = perform};
WEFT_OFFLOAD_COMPONENT(mock);

}  // namespace

}  // namespace weft::coll::offload
