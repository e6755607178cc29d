// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/plan/schedule.hpp"

#include "coll/plan/scratch_pool.hpp"
#include "core/message/completion.hpp"
#include "core/message/send_now.hpp"

namespace weft::coll {

namespace {

// The tags of schedules wrap around: two operations share a tag only when 2^31 others were started between them.
int32_t next_tag(Comm& comm) {
  constexpr auto tags = static_cast<uint32_t>(INT32_MAX - first_schedule_tag) + 1;
  const uint32_t number = comm.schedules.fetch_add(1, std::memory_order_relaxed);
  return first_schedule_tag + static_cast<int32_t>(number % tags);
}

}  // namespace

Schedule::Schedule(Comm& comm) : Schedule(comm, next_tag(comm)) {}

Schedule::Schedule(Comm& comm, Tag tag) : Schedule(comm, static_cast<int32_t>(tag)) {}

Schedule::Schedule(Comm& comm, int32_t tag) : comm_(&comm), tag_(tag) {
  constexpr size_t few = 8;  // of an operation on small data; memory for so many is in malloc's cache of a thread
  steps_.reserve(few);
  waiting_.schedule = this;
  waiting_.ready = [](Watch& watch) {
    const Step& step = *static_cast<Waiting&>(watch).step;
    return step.function(step.of, step);
  };
  waiting_.go_on = [](Watch& watch) {
    Schedule& schedule = *static_cast<Waiting&>(watch).schedule;
    if (schedule.open_.fetch_sub(1, std::memory_order_acq_rel) == 1) schedule.run();
  };
}

Schedule::~Schedule() {
  for (const ScheduleMemory& piece : memory_) give_memory(piece.memory, piece.bytes);
}

void Schedule::send(const Block& block, const Member& to) {
  steps_.push_back({.kind = Step::StepKind::send, .rank = to.rank, .comm = to.comm, .from = block});
}

void Schedule::receive(const Block& block, const Member& from) {
  steps_.push_back({.kind = Step::StepKind::receive, .rank = from.rank, .comm = from.comm, .to = block});
}

void Schedule::copy(const Block& from, const Block& to) {
  steps_.push_back({.kind = Step::StepKind::copy, .comm = comm_, .from = from, .to = to});
}

void Schedule::reduce(const Reducer& reducer, const void* in, void* inout, int64_t count) {
  reducer_ = &reducer;
  const Block from{const_cast<void*>(in), count, reducer.type};
  steps_.push_back({.kind = Step::StepKind::reduce, .from = from, .to = {inout, count, reducer.type}});
}

void Schedule::fence() {
  steps_.push_back({});
}

void Schedule::call(Function function, void* of, int32_t rank, const Block& to) {
  steps_.push_back({.kind = Step::StepKind::call, .rank = rank, .to = to, .function = function, .of = of});
  steps_.back().next = steps_.size();
}

void Schedule::wait(Function function, void* of) {
  steps_.push_back({.kind = Step::StepKind::wait, .function = function, .of = of});
}

void* Schedule::bytes(int64_t size) {
  if (size <= first_bytes && !std::exchange(first_taken_, true)) return first_;
  void* memory = take_memory(size);
  if (memory == nullptr) {
    note_error(core::no_memory);
  } else {
    memory_.push_back({memory, size});
  }
  return memory;
}

void* Schedule::elements(const Type& type, int64_t count) {
  const ElementSpan span = span_of(type, count);
  void* memory = bytes(span.bytes);
  return memory == nullptr ? nullptr : span.origin(memory);
}

void Schedule::note_error(int32_t error) {
  int32_t none = core::no_error;
  if (error != core::no_error) (void)error_.compare_exchange_strong(none, error, std::memory_order_relaxed);
}

void Schedule::note_error(int32_t error, const core::Truncation& truncation) {
  int32_t none = core::no_error;
  if (!error_.compare_exchange_strong(none, error, std::memory_order_relaxed)) return;
  request_->partner = truncation.source;
  request_->limit = truncation.sent;
  request_->bytes = truncation.room;
}

void Schedule::start(core::Request& request) {
  request_ = &request;
  next_ = 0;
  error_.store(core::no_error, std::memory_order_relaxed);
  run();
}

// The thread whose turn it is calls it: nothing is in flight.
void Schedule::run() {
  while (next_ != steps_.size()) {
    open_.store(1, std::memory_order_relaxed);
    while (next_ != steps_.size()) {
      const Step& step = steps_[next_++];
      if (step.kind == Step::StepKind::fence || (step.kind == Step::StepKind::wait && holds(step))) break;
      perform(step);
    }
    // Release and acquire: the thread that continues sees the stores of all others.
    if (open_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  }
  core::Request& request = *request_;
  request.error = error();
  core::complete(request);  // the owner may destroy us from here on
}

void Schedule::perform(const Step& step) {
  const Block& from = step.from;
  switch (step.kind) {
    case Step::StepKind::send: {
      const uint32_t context = step.comm->collective_context();
      if (from.type->contiguous && core::send_now(*step.comm, context, from.data, from.bytes(), step.rank, tag_))
        return;
      core::Request* request = new_request(step, core::Role::send, from);
      if (request != nullptr) core::start_send(*request, context, step.rank, tag_);
      return;
    }
    case Step::StepKind::receive: {
      core::Request* request = new_request(step, core::Role::receive, step.to);
      if (request != nullptr) core::start_receive(*request, step.comm->collective_context(), step.rank, tag_);
      return;
    }
    case Step::StepKind::copy:
      if (copy_block(from, step.to) == core::truncated) [[unlikely]]
        note_error(core::truncated, {step.comm->rank, from.bytes(), step.to.bytes()});
      return;
    case Step::StepKind::reduce:
      return reducer_->apply(from.data, step.to.data, from.count);
    case Step::StepKind::call:
      if (!step.function(step.of, step)) next_ = step.next;
      return;
    case Step::StepKind::go:
      next_ = step.next;
      return;
    case Step::StepKind::fence:
    case Step::StepKind::wait:
      return;
  }
}

// Whether the steps behind a wait have to wait. Then it counts as a step in flight.
bool Schedule::holds(const Step& step) {
  if (step.function(step.of, step)) return false;
  open_.fetch_add(1, std::memory_order_relaxed);
  waiting_.step = &step;
  begin_watch(waiting_);
  return true;
}

core::Request* Schedule::new_request(const Step& step, core::Role role, const Block& block) {
  core::Request* request = core::new_request(*step.comm, role);
  if (request == nullptr) {
    note_error(core::no_memory);
    return nullptr;
  }
  core::set_buffer(*request, block.data, block.count, *block.type);
  request->owner = this;
  request->on_done = step_ended;
  open_.fetch_add(1, std::memory_order_relaxed);
  return request;
}

bool Schedule::step_ended(core::Request& request) {
  auto& schedule = *static_cast<Schedule*>(request.owner);
  if (request.error == core::truncated) [[unlikely]]
    schedule.note_error(core::truncated, {request.source, request.limit, request.bytes});
  schedule.note_error(request.error);
  core::free_request(&request);
  if (schedule.open_.fetch_sub(1, std::memory_order_acq_rel) == 1) schedule.run();
  return false;
}

}  // namespace weft::coll
