// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/offload.hpp"

#include <atomic>
#include <new>

#include "base/setting.hpp"
#include "coll/agree.hpp"
#include "coll/channel.hpp"
#include "coll/scratch.hpp"
#include "core/failure.hpp"

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
     .help = "the component that does collective operations whose algorithm is offload; empty: none",
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

const Component* active() {
  return opened;
}

std::optional<int32_t> attempt(const Operation& operation) {
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

Counts counts() {
  return {done.load(std::memory_order_relaxed), failed.load(std::memory_order_relaxed)};
}

}  // namespace offload

namespace {

[[noreturn]] void no_memory() {  // the others would wait for this rank
  core::out_of_memory(
      {.cause = "no memory for an offloaded collective operation", .remedy = "free memory on this host"});
}

// The lowest rank that says no, or `nobody`.
constexpr uint64_t nobody = ~uint64_t{0};
int32_t find_failed(core::Comm& comm, bool well, uint64_t& rank) {
  Founders all = founders_of(comm);
  all.tag = static_cast<int32_t>(Tag::offload);
  Vote vote{well ? nobody : static_cast<uint64_t>(comm.rank), 0};
  const int32_t error = agree(all, vote);
  rank = vote.offer;
  return error;
}

Block data_at(const void* data, const offload::Operation& operation) {
  return {const_cast<void*>(data), operation.count, operation.type};
}

[[gnu::cold]] void tell_failed(const offload::Component& component, const offload::Operation& operation,
                               const offload::Outcome& outcome) {
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

// A vote that fails has lost a peer: later operations of this communicator report it.
Offload::Offload(core::Comm& comm) : component_(offload::active()) {
  group_ = component_->join(comm);
  uint64_t who = nobody;
  const int32_t error = find_failed(comm, group_ != nullptr, who);
  if (error != core::no_error || who != nobody) end();
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

bool Offload::can(const offload::Operation& operation) const {
  return component_ != nullptr && component_->can(group_, operation);
}

bool Offload::perform(const offload::Operation& operation, int32_t& error) {
  offload::Operation performed = operation;
  const bool in_place = operation.reducer != nullptr && operation.send == operation.receive;
  Scratch scratch;
  if (in_place) {  // a failure must leave the data
    const Span span = span_of(*operation.type, operation.count);
    void* memory = scratch.bytes(span.bytes);
    if (memory == nullptr) no_memory();
    performed.send = span.origin(memory);
    (void)copy_block(data_at(operation.receive, operation), data_at(performed.send, operation));
  }
  const offload::Outcome outcome = component_->perform(group_, performed);
  uint64_t who = nobody;
  error = find_failed(operation.comm, outcome.done, who);
  if (error != core::no_error || who == nobody) {
    offload::done.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  offload::failed.fetch_add(1, std::memory_order_relaxed);
  if (who == static_cast<uint64_t>(operation.comm.rank)) tell_failed(*component_, operation, outcome);
  end();
  if (in_place) (void)copy_block(data_at(performed.send, operation), data_at(operation.receive, operation));
  return false;
}

}  // namespace weft::coll
