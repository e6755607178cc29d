// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/exchange_buffers.hpp"

#include <algorithm>
#include <new>

#include "coll/agree/agree.hpp"
#include "coll/plan/pattern.hpp"
#include "coll/shm/deferred_release.hpp"
#include "coll/shm/shared_region.hpp"
#include "core/memory/shared.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"
#include "core/thread/thread.hpp"

namespace weft::coll {

// The ranks' steps to common memory: the first rank tells where it is, all map it, and they vote. It happens once, so
// its messages have a tag of their own: Comm::local of an intercommunicator also carries those of schedules that the
// intercommunicator counts.
struct ExchangeBuffers::Founding {
  explicit Founding(ExchangeBuffers& owner)
      : buffers(owner),
        founders(founders_of(owner.comm_)),
        schedule(owner.comm_, Tag::exchange_buffers),
        vote{0, 0},
        spare{0, 0} {
    schedule.call(allocate, this);
    plan::spread(schedule, founders, Block{&memory, sizeof memory, &byte_type}, 0);
    schedule.fence();
    schedule.call(map, this);
    plan::agree(schedule, founders, vote, spare);
  }

  size_t bytes() const { return sizeof(BuffersHead) + static_cast<size_t>(buffers.size_) * sizeof(ExchangeBoard); }
  static bool allocate(void* of, const Step& /*step*/) {
    auto& self = *static_cast<Founding*>(of);
    if (self.buffers.rank_ != 0) return true;
    release_empty();
    void*& ours = self.buffers.our_memory_;
    ours = core::allocate_shared(self.bytes(), 4096);  // zeros: no rank has posted or finished anything
    if (ours != nullptr) self.memory = core::memory::register_memory(ours, self.bytes());
    return true;
  }
  static bool map(void* of, const Step& /*step*/) {
    auto& self = *static_cast<Founding*>(of);
    if (self.memory.key != core::MemoryRef::no_key) {
      self.mapped = core::memory::map(self.buffers.comm_.job_rank(0), self.memory);
    }
    self.vote.bits = self.mapped != nullptr ? 1 : 0;
    return true;
  }

  ExchangeBuffers& buffers;
  Founders founders;
  Schedule schedule;
  core::MemoryRef memory{0, core::MemoryRef::no_key};
  char* mapped = nullptr;
  Vote vote;
  Vote spare;
};

ExchangeBuffers::ExchangeBuffers(core::Comm& comm) : comm_(comm), size_(comm.size), rank_(comm.rank), wakeup_(comm) {}

// Communicators may outlive the runtime, and with it the memory.
ExchangeBuffers::~ExchangeBuffers() {
  if (head_ == nullptr || !core::identity->running) return;
  if (rank_ == 0) release_when_left(head_->left, size_, our_memory_);
  head_->left.fetch_add(1, std::memory_order_release);
}

ExchangeBuffers& ExchangeBuffers::of(core::Comm& comm) {
  std::unique_ptr<ExchangeBuffers>& buffers = SharedRegion::place_of_buffers(comm);
  if (buffers == nullptr) {
    buffers.reset(new (std::nothrow) ExchangeBuffers(comm));
    if (buffers != nullptr) buffers->founding_.reset(new (std::nothrow) Founding(*buffers));
    if (buffers == nullptr || buffers->founding_ == nullptr) {
      core::failed(core::FailureCause::memory,
                   {.cause = "no memory for a communicator", .remedy = "free memory on this host"});
    }
  }
  return *buffers;
}

bool ExchangeBuffers::may_take(const core::Comm& comm, bool repeats) {
  const ExchangeBuffers* buffers = SharedRegion::buffers(comm);
  if (buffers == nullptr) return true;
  return buffers->state() != BuffersState::none && (!repeats || buffers->rows_taken_ < rows);
}

void ExchangeBuffers::found() {
  if (begun_.exchange(true, std::memory_order_relaxed)) return;
  core::Request* request = new_composite(comm_);
  if (request == nullptr) {
    core::failed(core::FailureCause::memory,
                 {.cause = "no memory for a communicator", .remedy = "free memory on this host"});
  }
  request->owner = this;
  request->on_done = founded;
  founding_->schedule.start(*request);
}

bool ExchangeBuffers::founded(core::Request& request) {
  auto& buffers = *static_cast<ExchangeBuffers*>(request.owner);
  const Founding& founding = *buffers.founding_;
  const bool here = request.error == core::no_error && founding.vote.bits == 1;
  if (here) {
    buffers.head_ = reinterpret_cast<BuffersHead*>(founding.mapped);
    buffers.boards_ = reinterpret_cast<ExchangeBoard*>(founding.mapped + sizeof(BuffersHead));
    buffers.wakeup_.find();
  } else if (buffers.our_memory_ != nullptr) {
    (void)core::release_shared(buffers.our_memory_);
    buffers.our_memory_ = nullptr;
  }
  core::free_request(&request);
  buffers.state_.store(here ? BuffersState::here : BuffersState::none, std::memory_order_release);
  (void)look_at_watches();  // of operations that sleeping threads wait for
  return false;
}

int32_t ExchangeBuffers::take_row(bool repeats) {
  if (!repeats) return 0;
  return rows_taken_ < rows ? rows_taken_++ : no_row;
}

int64_t ExchangeBuffers::next(int32_t row) {
  return ++rows_[row].count;
}

int32_t ExchangeBuffers::index(int32_t row, int64_t number) {
  if (row == 0) return static_cast<int32_t>(number % buffers_of_first);
  return buffers_of_first + (row - 1) * buffers_of_others + static_cast<int32_t>(number % buffers_of_others);
}

bool ExchangeBuffers::is_free(int32_t row, int64_t number) {
  std::atomic<int64_t>& floor = rows_[row].floor;
  const int64_t before = number - buffers_of(row);  // the operation that had the place
  if (floor.load(std::memory_order_acquire) >= before) return true;
  int64_t lowest = number;
  for (int32_t r = 0; r < size_; ++r) {
    lowest = std::min(lowest, boards_[r].finished[row].load(std::memory_order_acquire));
  }
  floor.store(lowest, std::memory_order_release);
  return lowest >= before;
}

unsigned char* ExchangeBuffers::place(int32_t row, int64_t number) {
  return at(rank_, row, number).data;
}

void ExchangeBuffers::post(int32_t row, int64_t number, uint64_t about) {
  ExchangeSlot& place = at(rank_, row, number);
  place.about = about;
  place.number.store(number, std::memory_order_release);
  wakeup_.rouse();
}

bool ExchangeBuffers::has_posted(int32_t rank, int32_t row, int64_t number) const {
  return at(rank, row, number).number.load(std::memory_order_acquire) >= number;
}

uint64_t ExchangeBuffers::about(int32_t rank, int32_t row, int64_t number) const {
  return at(rank, row, number).about;
}

const unsigned char* ExchangeBuffers::data(int32_t rank, int32_t row, int64_t number) const {
  return at(rank, row, number).data;
}

void ExchangeBuffers::finish(int32_t row, int64_t number) {
  {
    const base::LockIf guard(finishing_, core::threads->concurrent);
    BufferRow& ours = rows_[row];
    const auto bit = [](int64_t n) { return uint64_t{1} << (n % 64); };
    ours.ahead |= bit(number);
    while ((ours.ahead & bit(ours.finished + 1)) != 0) ours.ahead &= ~bit(++ours.finished);
    boards_[rank_].finished[row].store(ours.finished, std::memory_order_release);
  }
  wakeup_.rouse();
}

int32_t ExchangeBuffers::lost(int32_t rank) const {
  return core::peers->of(comm_.job_rank(rank)).lost.load(std::memory_order_relaxed);
}

}  // namespace weft::coll
