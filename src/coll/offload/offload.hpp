// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations done by the fabric. A component does blocking barriers, bcasts and allreduces of
// intracommunicators where the table says `offload` (coll/select/select.hpp). WEFT_OFFLOAD names the component of a
// job; without it such rows are passed over.
//
// All ranks must go the same way, so they agree by messages of our own, twice:
//  - The ranks of a communicator join in the first operation that may be offloaded, and vote. If one cannot, none has.
//  - After each offloaded operation they vote on its outcome. If it failed on one rank, all do it again by the next
//    algorithm, and the communicator's operations are offloaded no more.
// A rank that fails tells all others before it votes, so that none waits for it in the fabric.
// In between, a component refuses operations by facts that all ranks have alike, as the table does; no vote is needed.
//
// A component leaves a row that the linker collects:
//
//   constexpr offload::Component mock{.name = "mock", ...};
//   WEFT_OFFLOAD_COMPONENT(mock);

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/message.hpp"
#include "coll/plan/reducer.hpp"
#include "coll/select/select.hpp"
#include "core/object/comm.hpp"

namespace weft::coll {

namespace offload {

struct OffloadOperation {
  Collective collective;  // barrier, bcast or allreduce
  core::Comm& comm;
  const void* send = nullptr;  // allreduce; never `receive`
  void* receive = nullptr;     // allreduce, and the data of a bcast
  int64_t count = 0;           // of `type`
  Type* type = nullptr;
  const Reducer* reducer = nullptr;  // allreduce
  int32_t root = 0;                  // bcast

  [[nodiscard]] int64_t bytes() const { return type != nullptr ? count * type->size : 0; }
};

struct OffloadOutcome {
  bool done = true;
  std::string reason = {};  // of a failure, for people: "the switch has no groups left"; empty: another rank failed
};

// Whether a component can do anything on this host, and by what, or why not: for people.
struct ComponentState {
  bool able = true;
  std::string text = {};
};

struct Component {
  const char* name;
  // Checks the component's settings when the job starts, before any other function; false: `problem` says why not.
  bool (*open)(base::Problem& problem);
  ComponentState (*state)();
  // All ranks of a communicator call it; the other functions get the result. nullptr: this rank cannot; others return
  // too.
  void* (*join)(core::Comm& comm);
  // Sends nothing; the runtime may have stopped.
  void (*leave)(void* group);
  // Instead of leave(), where an operation failed on one rank or more: waits for no other. nullptr: leave() does not.
  void (*give_up)(void* group) = nullptr;
  // Whether such operations can be done: the same on all ranks. Neither addresses nor this rank's state decide.
  bool (*can)(void* group, const OffloadOperation& operation);
  // Blocks. A rank that waits looks at others_failed(), or one whose part fails goes on with it, so that all ranks
  // return when one has failed. It uses no memory of the program afterwards. After a failure `send`, and a bcast's data
  // at the root, are as before; the contents of `receive` do not matter.
  OffloadOutcome (*perform)(void* group, const OffloadOperation& operation);
};

#define WEFT_OFFLOAD_COMPONENT(row) \
  [[gnu::used,                      \
    gnu::section("weft_offloads")]] static constinit const ::weft::coll::offload::Component* const row##_entry = &row

[[nodiscard]] std::span<const Component* const> components();

// Finds the component that WEFT_OFFLOAD names; nullptr when the setting is empty. False: no component has that name.
[[nodiscard]] bool find_wanted(const Component*& component, base::Problem& problem);

// Finds that component and opens it, when the job starts.
[[nodiscard]] bool open(base::Problem& problem);

// One rank tells, when the job starts, that nothing will be offloaded though settings ask for it: whether settings, or
// any rows of the table, choose the algorithm.
void tell_unused(bool by_settings, bool by_rows);
[[nodiscard]] const Component* active();

// Whether another rank has failed in the operation under way, or could not join: a component asks while it waits.
[[nodiscard]] bool others_failed(core::Comm& comm);
// For a component whose ranks cannot all know that a join has failed: this rank tells each other one, once; and all,
// when each has told, hear it, before join() returns.
void tell_others(core::Comm& comm);
void hear_others(core::Comm& comm);

// Does the operation, if the table says so and all ranks can: its error class. Nothing: another algorithm has to.
[[nodiscard]] std::optional<int32_t> attempt(const OffloadOperation& operation);

// The operations that this process has offloaded.
struct Counts {
  uint64_t done;
  uint64_t failed;  // done again by another algorithm
};
[[nodiscard]] Counts counts();

}  // namespace offload

// A communicator's part in the component; made in its first operation that may be offloaded.
class Offload {
 public:
  [[nodiscard]] static Offload& of(core::Comm& comm);
  // The communicator ends.
  static void leave(core::Comm& comm) {
    if (comm.offload != nullptr) [[unlikely]]
      drop(comm);
  }

  [[nodiscard]] bool can(const offload::OffloadOperation& operation) const;
  // False: it failed, on all ranks; `error` otherwise is its error class.
  [[nodiscard]] bool perform(const offload::OffloadOperation& operation, int32_t& error);

 private:
  explicit Offload(core::Comm& comm);
  ~Offload() { end(); }
  static void drop(core::Comm& comm);
  void end();

  const offload::Component* component_;  // nullptr: not, or no more
  void* group_ = nullptr;
};

}  // namespace weft::coll
