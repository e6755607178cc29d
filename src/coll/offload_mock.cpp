// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// WEFT_OFFLOAD=mock: a component without a fabric, which shows that the others' road is right: operations go by
// messages with a tag of their own, along a binomial tree at rank 0. WEFT_OFFLOAD_FAULTS has it refuse and fail.
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>

#include "base/setting.hpp"
#include "coll/channel.hpp"
#include "coll/offload.hpp"
#include "coll/pattern.hpp"

namespace weft::coll::offload {

namespace {

constinit base::TextSetting faults_setting{
    {.name = "WEFT_OFFLOAD_FAULTS",
     .help =
         "faults of WEFT_OFFLOAD=mock, for tests: alone=R (rank R of a communicator cannot join), refuse=B (operations "
         "of B bytes or more), fail=N (the operation behind N ones of a communicator), rank=R (fails on rank R alone)",
     .subject = base::Subject::start,
     .alike = true}};
WEFT_SETTING(faults_setting);

struct Faults {
  int64_t alone = -1;
  int64_t refuse = -1;
  int64_t fail = -1;
  int64_t rank = -1;
};
constinit Faults faults;

struct Group {
  const int32_t rank;
  int64_t done = 0;
};

bool open(base::Problem& problem) {
  faults = {};
  std::string_view rest = faults_setting.value();
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(word.size() < rest.size() ? word.size() + 1 : word.size());
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    int64_t* const number = name == "alone"    ? &faults.alone
                            : name == "refuse" ? &faults.refuse
                            : name == "fail"   ? &faults.fail
                            : name == "rank"   ? &faults.rank
                                               : nullptr;
    if (number != nullptr && equals != std::string_view::npos &&
        base::parse_number(word.substr(equals + 1), base::Unit::none, *number).empty() && *number >= 0)
      continue;
    problem = {.cause = "WEFT_OFFLOAD_FAULTS: " + base::quoted(word) + " is not understood",
               .remedy = "see weft info --all"};
    return false;
  }
  return true;
}

void* join(core::Comm& comm) {
  if (comm.rank == faults.alone) return nullptr;
  return new (std::nothrow) Group{comm.rank};
}

void leave(void* group) {
  delete static_cast<Group*>(group);
}

bool can(void* /*group*/, const Operation& operation) {
  return faults.refuse < 0 || operation.bytes() < faults.refuse;
}

void bcast(Channel& channel, const Operation& operation) {
  const Block data{operation.receive, operation.count, operation.type};
  plan::spread(channel, Everybody(operation.comm), data, operation.root);
}

void allreduce(Channel& channel, const Operation& operation) {
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
void spoil(const Operation& operation) {
  const bool has_data = operation.collective == Collective::bcast && operation.comm.rank == operation.root;
  if (operation.type == nullptr || has_data || !operation.type->contiguous) return;
  std::memset(operation.receive, 0xa5, static_cast<size_t>(operation.bytes()));
}

// A rank that fails has done its part, so that the others end.
Outcome perform(void* group, const Operation& operation) {
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
  auto& ours = *static_cast<Group*>(group);
  const bool fails = ours.done++ == faults.fail && (faults.rank < 0 || faults.rank == ours.rank);
  if (!fails) return {};
  spoil(operation);
  return {false, "WEFT_OFFLOAD_FAULTS says so"};
}

constexpr Component mock{.name = "mock", .open = open, .join = join, .leave = leave, .can = can, .perform = perform};
WEFT_OFFLOAD_COMPONENT(mock);

}  // namespace

}  // namespace weft::coll::offload
