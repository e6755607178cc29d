// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A schedule: the steps of one rank in one collective operation, recorded by a plan (coll/plan/plan.hpp) and performed
// when the schedule is started, any number of times.
//
// No thread polls a schedule. start() performs steps up to the first fence. Each send or receive that is still in
// flight then goes on by itself, and the thread that completes the last one before the fence performs the steps behind
// it, whatever that thread was waiting for; so a schedule moves whenever the process makes progress. The `open_` count
// decides which thread continues: it counts the steps in flight, and one more while a thread performs steps. The thread
// that takes it to zero continues. A thread that does so holds no lane (docs/design/threads.md), so steps may send,
// receive and call a user's reduction function.
//
// Several schedules go on at once on one communicator: each has a tag of its own, the number of the operation among
// those that the ranks start on the communicator, in the same order on all of them.

#include <atomic>
#include <utility>
#include <vector>

#include "coll/plan/channel.hpp"
#include "coll/plan/watch.hpp"

namespace weft::coll {

struct Step {
  enum class StepKind : uint8_t { send, receive, copy, reduce, fence, call, go, wait };

  StepKind kind = StepKind::fence;
  int32_t rank = 0;      // the other side of a send or receive
  Comm* comm = nullptr;  // where
  Block from;            // the source of a send or copy, or the left operand of a reduction
  Block to;              // where to; the right operand, and the result
  // A call: false goes on at step `next`. A go always does. A wait: false waits until it says true.
  bool (*function)(void* of, const Step& step) = nullptr;
  void* of = nullptr;
  size_t next = 0;
};

class Schedule {
 public:
  explicit Schedule(Comm& comm);
  // A schedule with a tag of its own instead of a number goes on beside schedules of an intercommunicator, whose
  // numbers others count, on Comm::local.
  Schedule(Comm& comm, Tag tag);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule();

  // ---- For plans
  Comm& comm() const { return *comm_; }
  void use(Comm& comm) { comm_ = &comm; }  // for the steps that follow
  void send(const Block& block, int32_t to) { send(block, Member{comm_, to}); }
  void receive(const Block& block, int32_t from) { receive(block, Member{comm_, from}); }
  void send(const Block& block, const Member& to);
  void receive(const Block& block, const Member& from);
  void copy(const Block& from, const Block& to);
  void reduce(const Reducer& reducer, const void* in, void* inout, int64_t count);
  void fence();
  [[nodiscard]] void* bytes(int64_t size);
  [[nodiscard]] void* elements(const Type& type, int64_t count);
  // The steps that are planned replace others, which have an exchange buffer: see either().
  bool messages_alone() const { return messages_alone_; }
  // The schedule is started again and again, each time when it has ended on all ranks: of a persistent operation.
  void repeat() { repeats_ = true; }
  bool repeats() const { return repeats_; }
  // A function of the plan's own, which looks at what has come, or moves data. `rank` and `to` are for it to read.
  using Function = bool (*)(void* of, const Step& step);
  void call(Function function, void* of, int32_t rank = 0, const Block& to = {});
  // The steps behind it follow when the function says true: it looks at memory that other ranks write
  // (coll/plan/watch.hpp). Nothing is in flight.
  void wait(Function function, void* of);
  // The steps that `one` names where the function says true, otherwise those of `other`, which are messages alone.
  template <class One, class Other>
  void either(Function function, void* of, One&& one, Other&& other);
  // The steps that `steps` names where the function says true.
  template <class Steps>
  void when(Function function, void* of, Steps&& steps, int32_t rank = 0, const Block& to = {});
  // Adds the steps that `steps` names for ranks that have compared their calls (coll/shm/shm_nonblocking.hpp);
  // meanwhile has_met() is true.
  template <class Steps>
  void behind_meeting(Steps&& steps);
  bool has_met() const { return has_met_; }
  void note_error(int32_t error);
  // Notes the error of a step that was truncated, or whose ranks disagree (coll/shm/call.hpp): the request tells which
  // it was.
  void note_error(int32_t error, const core::Truncation& truncation);

  // The error class of planning: a schedule with one is not started.
  int32_t error() const { return error_.load(std::memory_order_relaxed); }

  // Performs the steps. `request` completes, with their first error, when all are done; the schedule may be started
  // again, or destroyed, from then on.
  void start(core::Request& request);

  const std::vector<Step>& steps() const { return steps_; }

 private:
  Schedule(Comm& comm, int32_t tag);
  static bool step_ended(core::Request& request);
  void run();
  void perform(const Step& step);
  bool holds(const Step& step);
  core::Request* new_request(const Step& step, core::Role role, const Block& block);

  Comm* comm_;
  int32_t tag_;
  std::atomic<int32_t> error_{core::no_error};
  std::atomic<int32_t> open_{0};
  size_t next_ = 0;  // the first step that was not performed; whose turn it is, writes it
  core::Request* request_ = nullptr;
  const Reducer* reducer_ = nullptr;
  bool messages_alone_ = false;
  bool has_met_ = false;
  bool repeats_ = false;
  struct Waiting : Watch {
    Schedule* schedule;
    const Step* step;
  };
  Waiting waiting_;
  std::vector<Step> steps_;
  struct ScheduleMemory {
    void* memory;
    int64_t bytes;
  };
  std::vector<ScheduleMemory> memory_;
  // The first piece, if it is small.
  static constexpr int64_t first_bytes = 144;
  bool first_taken_ = false;
  alignas(16) unsigned char first_[first_bytes];
};

template <class One, class Other>
void Schedule::either(Function function, void* of, One&& one, Other&& other) {
  const size_t question = steps_.size();
  call(function, of);
  one();
  const size_t end_of_one = steps_.size();
  steps_.push_back({.kind = Step::StepKind::go});
  steps_[question].next = steps_.size();
  const bool before = std::exchange(messages_alone_, true);
  other();
  messages_alone_ = before;
  steps_[end_of_one].next = steps_.size();
}

template <class Steps>
void Schedule::when(Function function, void* of, Steps&& steps, int32_t rank, const Block& to) {
  const size_t question = steps_.size();
  call(function, of, rank, to);
  steps();
  steps_[question].next = steps_.size();
}

template <class Steps>
void Schedule::behind_meeting(Steps&& steps) {
  const bool before = std::exchange(has_met_, true);
  steps();
  has_met_ = before;
}

// A request for a schedule, or other operations made of several; nullptr when there is no memory.
[[nodiscard]] inline core::Request* new_composite(Comm& comm) {
  core::Request* request = core::new_request(comm, core::Role::composite);
  if (request == nullptr) return nullptr;
  request->lane = core::any_lane;  // its waiter progresses all lanes
  request->source = core::any_source;
  request->tag = core::any_tag;
  request->received = 0;
  return request;
}

// Plans a schedule, runs it and waits for it: a blocking operation. Returns an error class.
template <class Plan>
[[nodiscard]] int32_t execute(Comm& comm, Plan&& plan) {
  Schedule schedule(comm);
  plan(schedule);
  if (schedule.error() != core::no_error) return schedule.error();
  core::Request* request = new_composite(comm);
  if (request == nullptr) return core::no_memory;
  schedule.start(*request);
  core::wait(*request);
  const int32_t error = request->error;
  if (error != core::no_error) [[unlikely]]
    comm.truncation = {request->partner, request->limit, request->bytes};
  core::free_request(request);
  return error;
}

}  // namespace weft::coll
