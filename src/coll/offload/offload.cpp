// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/offload/offload.hpp"

#include <atomic>
#include <new>
#include <utility>

#include "base/setting.hpp"
#include "coll/agree/agree.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/scratch.hpp"
#include "core/object/failure.hpp"

// The linker's names for the two ends of the section; weak, since a program may have no row at all.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern const weft::coll::offload::Component* const __start_weft_offloads[];
[[gnu::weak, gnu::visibility("hidden")]] extern const weft::coll::offload::Component* const __stop_weft_offloads[];
}

namespace weft::coll {

namespace offload {

namespace {

constinit base::TextSetting wanted{
    {.name = "WEFT_OFFLOAD",
     .help =
         "the component that does collective operations whose algorithm is offload: ofi (libfabric), ucc (UCC, where "
         "it is installed), mock (for tests); empty: none",
     .subject = base::Subject::start,
     .alike = true}};
WEFT_SETTING(wanted);

constinit const Component* opened = nullptr;
constinit std::atomic<uint64_t> done = 0;
constinit std::atomic<uint64_t> failed = 0;

}  // namespace

std::span<const Component* const> components() {
  return {__start_weft_offloads, static_cast<size_t>(__stop_weft_offloads - __start_weft_offloads)};
}

bool find_wanted(const Component*& component, base::Problem& problem) {
  component = nullptr;
  const std::string_view name = wanted.value();
  if (name.empty()) return true;
  std::string names;
  for (const Component* one : components()) {
    if (name == one->name) component = one;
    names += (names.empty() ? "" : ", ") + std::string(one->name);
  }
  if (component != nullptr) return true;
  problem = {.cause = "WEFT_OFFLOAD: there is no component " + base::quoted(name) + " for collective operations",
             .remedy = names.empty() ? "unset it" : "unset it, or take one of these: " + names};
  return false;
}

bool open(base::Problem& problem) {
  const Component* component = nullptr;
  if (!find_wanted(component, problem) || (component != nullptr && !component->open(problem))) return false;
  opened = component;
  return true;
}

void tell_unused(bool by_settings, bool by_rows) {
  std::string cause;
  std::string remedy = "unset WEFT_OFFLOAD";
  if (opened == nullptr && by_settings) {
    cause = "the algorithm offload, which a setting asks for, is passed over: WEFT_OFFLOAD names no component";
    remedy = "set WEFT_OFFLOAD to ofi or ucc, or choose another algorithm";
  } else if (const ComponentState state = opened != nullptr ? opened->state() : ComponentState(); !state.able) {
    cause = std::string("WEFT_OFFLOAD=") + opened->name + " has no effect here: " + state.text;
    remedy += "; weft info coll tells whether a component can be used";
  } else if (opened != nullptr && !by_rows) {
    cause = std::string("WEFT_OFFLOAD=") + opened->name +
            " has no effect: no setting and no row of WEFT_TUNING chooses the algorithm offload";
    remedy = "set WEFT_ALLREDUCE_ALGORITHM=offload, or the setting of another collective operation; or unset it";
  }
  if (!cause.empty()) base::warn_for_job("WEFT_OFFLOAD", {.cause = cause, .remedy = remedy});
}

const Component* active() {
  return opened;
}

std::optional<int32_t> attempt(const OffloadOperation& operation) {
  core::Comm& comm = operation.comm;
  const bool reduces = operation.reducer != nullptr;
  const int64_t bytes = operation.bytes();
  const bool empty = bytes == 0 && operation.collective != Collective::barrier;
  if (comm.size == 1 || empty || (reduces && operation.reducer->fixed)) return std::nullopt;
  const Algorithms able =
      without_parts(Algorithms::any(), operation.collective, (reduces ? operation.count : bytes) < comm.size);
  if (choose(comm, operation.collective, bytes, able) != Algorithm::offload) return std::nullopt;
  Offload& ours = Offload::of(comm);
  int32_t error = core::no_error;
  if (!ours.can(operation) || !ours.perform(operation, error)) return std::nullopt;
  return error;
}

bool others_failed(core::Comm& comm) {
  return core::probe(comm.collective_context(), core::any_source, static_cast<int32_t>(Tag::offload_failure), nullptr);
}

// An empty message to each other rank.
void tell_others(core::Comm& comm) {
  Channel channel(comm, Tag::offload_failure);
  for (int32_t r = 1; r < comm.size; ++r) channel.send({nullptr, 0, &byte_type}, (comm.rank + r) % comm.size);
  (void)channel.finish();
}

// Takes those messages, of which each rank has then sent one to each other.
void hear_others(core::Comm& comm) {
  Channel channel(comm, Tag::offload_failure);
  for (int32_t r = 1; r < comm.size; ++r) channel.receive({nullptr, 0, &byte_type}, (comm.rank + r) % comm.size);
  (void)channel.finish();
}

Counts counts() {
  return {done.load(std::memory_order_relaxed), failed.load(std::memory_order_relaxed)};
}

}  // namespace offload

namespace {

[[noreturn]] void no_memory() {  // the others would wait for this rank
  core::failed(core::FailureCause::memory,
               {.cause = "no memory for an offloaded collective operation", .remedy = "free memory on this host"});
}

// A rank's vote, of which the lowest counts: all is well, or the rank that says no. One that gave up since another one
// had failed stands behind those.
constexpr uint64_t well = ~uint64_t{0};
uint64_t no_of(const core::Comm& comm, bool by_itself) {
  const auto rank = static_cast<uint64_t>(comm.rank);
  return by_itself ? rank : rank + static_cast<uint64_t>(comm.size);
}

// False, on all ranks: one of them failed; `vote` is the lowest of all then. A vote that itself fails has lost a peer.
bool all_well(core::Comm& comm, uint64_t& vote, int32_t& error) {
  const bool failed = vote != well;
  if (failed) offload::tell_others(comm);
  Founders all = founders_of(comm);
  all.tag = static_cast<int32_t>(Tag::offload);
  Vote result{vote, 0};
  error = agree(all, result);
  vote = result.offer;
  if (error != core::no_error || vote == well) return true;
  if (!failed) offload::tell_others(comm);
  offload::hear_others(comm);
  return false;
}

Block data_at(const void* data, const offload::OffloadOperation& operation) {
  return {const_cast<void*>(data), operation.count, operation.type};
}

[[gnu::cold]] void tell_failed(const offload::Component& component, const offload::OffloadOperation& operation,
                               const offload::OffloadOutcome& outcome) {
  base::warn_once(
      "offload",
      {.cause = std::string(name(operation.collective)) + " of " + std::to_string(operation.bytes()) + " bytes and " +
                std::to_string(operation.comm.size) + " ranks failed in " + component.name + " (" + outcome.reason +
                ") and was done by another algorithm; those of this communicator are offloaded no more",
       .remedy = "unset WEFT_OFFLOAD if it is too slow so; weft info coll tells the algorithms"});
}

}  // namespace

Offload& Offload::of(core::Comm& comm) {
  if (comm.offload == nullptr) {
    comm.offload = new (std::nothrow) Offload(comm);
    if (comm.offload == nullptr) no_memory();
  }
  return *comm.offload;
}

// Later operations of the communicator report a lost peer.
Offload::Offload(core::Comm& comm) : component_(offload::active()) {
  group_ = component_->join(comm);
  uint64_t vote = group_ != nullptr ? well : no_of(comm, true);
  int32_t error = core::no_error;
  if (!all_well(comm, vote, error) || error != core::no_error) end();
}

void Offload::drop(core::Comm& comm) {
  delete comm.offload;
  comm.offload = nullptr;
}

void Offload::end() {
  if (group_ != nullptr) component_->leave(group_);
  group_ = nullptr;
  component_ = nullptr;
}

bool Offload::can(const offload::OffloadOperation& operation) const {
  return component_ != nullptr && component_->can(group_, operation);
}

bool Offload::perform(const offload::OffloadOperation& operation, int32_t& error) {
  offload::OffloadOperation performed = operation;
  const bool in_place = operation.reducer != nullptr && operation.send == operation.receive;
  Scratch scratch;
  if (in_place) {  // a failure must leave the data
    const ElementSpan span = span_of(*operation.type, operation.count);
    void* memory = scratch.bytes(span.bytes);
    if (memory == nullptr) no_memory();
    performed.send = span.origin(memory);
    (void)copy_block(data_at(operation.receive, operation), data_at(performed.send, operation));
  }
  const offload::OffloadOutcome outcome = component_->perform(group_, performed);
  const uint64_t ours = outcome.done ? well : no_of(operation.comm, !outcome.reason.empty());
  uint64_t vote = ours;
  if (all_well(operation.comm, vote, error)) {
    offload::done.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  offload::failed.fetch_add(1, std::memory_order_relaxed);
  if (vote == ours) tell_failed(*component_, operation, outcome);
  if (component_->give_up != nullptr) component_->give_up(std::exchange(group_, nullptr));
  end();
  if (in_place) (void)copy_block(data_at(performed.send, operation), data_at(operation.receive, operation));
  return false;
}

}  // namespace weft::coll
