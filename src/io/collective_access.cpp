// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/collective_access.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <mutex>

#include "base/clock.hpp"
#include "coll/coll.hpp"
#include "coll/plan/plan.hpp"
#include "core/message/completion.hpp"
#include "io/disk.hpp"
#include "io/numbers.hpp"

namespace weft::io {

CollectiveAccess::CollectiveAccess(File& file, bool writes, int64_t position, const Memory& memory, const Result& given,
                                   core::Request* request)
    : file_(file),
      writes_(writes),
      view_(file.view),
      position_(position),
      memory_(given.failed() ? Memory{} : memory),
      request_(request),
      result_(given) {}

void CollectiveAccess::perform() {
  drain(file_);
  advance();
}

void CollectiveAccess::start() {
  {
    std::lock_guard guard(file_.guard);
    (file_.last != nullptr ? file_.last->next_ : file_.first) = this;
    file_.last = this;
    if (file_.first != this) return;
  }
  advance();
}

void drain(File& file) {
  core::wait_until([&] {
    std::lock_guard guard(file.guard);
    return file.first == nullptr;
  });
}

// A step that returns false may be over already, and this object gone.
void CollectiveAccess::advance() {
  while (step()) {
  }
}

bool CollectiveAccess::step() {
  switch (stage_) {
    case AccessStage::meet:
      stage_ = AccessStage::decide;
      return meet();
    case AccessStage::decide:
      decide();
      count_access(file_, writes_, view_, position_, mine_.bytes, true, phases_ != nullptr);
      return true;
    case AccessStage::alone:
      stage_ = AccessStage::agree;
      return use_disk();
    case AccessStage::heads:
      stage_ = AccessStage::lists;
      return perform_schedule([&](coll::Schedule& way) { phases_->exchange_heads(way); });
    case AccessStage::lists:
      stage_ = AccessStage::take_lists;
      return perform_schedule([&](coll::Schedule& way) { phases_->exchange_lists(way); });
    case AccessStage::take_lists:
      phases_->take_lists();
      stage_ = phases_->rounds() == 0 ? AccessStage::agree : writes_ ? AccessStage::exchange : AccessStage::disk;
      return true;
    case AccessStage::join:
      stage_ = AccessStage::joined;
      return join();
    case AccessStage::joined:
      if (behind_.under_way_) phases_->accessed();
      behind_.under_way_ = false;
      stage_ = writes_ ? AccessStage::disk : AccessStage::ahead;
      return true;
    case AccessStage::disk:
      if (!writes_) phases_->prepare();
      stage_ = writes_ ? AccessStage::next : AccessStage::ahead;
      if (!phases_->aggregates()) return true;
      if (writes_ && pays_behind()) {
        start_behind();
        return true;
      }
      stage_ = AccessStage::accessed;
      return use_disk();
    case AccessStage::accessed:
      phases_->accessed();
      stage_ = writes_ ? AccessStage::next : AccessStage::ahead;
      return true;
    case AccessStage::ahead:
      stage_ = AccessStage::exchange;
      if (phases_->aggregates() && pays_behind()) {
        phases_->prepare();
        start_behind();
      }
      return true;
    case AccessStage::exchange:
      if (writes_) phases_->prepare();
      stage_ = AccessStage::exchanged;
      return perform_schedule([&](coll::Schedule& way) { phases_->exchange(way); });
    case AccessStage::exchanged:
      phases_->exchanged();
      stage_ = writes_ ? AccessStage::join : AccessStage::next;
      return true;
    case AccessStage::next:
      if (phases_->all_exchanged()) {
        stage_ = AccessStage::agree;
      } else if (writes_) {
        stage_ = AccessStage::exchange;
      } else {
        stage_ = behind_.under_way_ ? AccessStage::join : AccessStage::disk;
      }
      return true;
    case AccessStage::agree:
      stage_ = AccessStage::tell;
      return agree();
    case AccessStage::tell:
      stage_ = AccessStage::end;
      return tell();
    case AccessStage::end:
      finish();
      return false;
  }
  return false;
}

namespace {

// The typical size of a run, from the first ones.
int64_t typical_run(const View& view, int64_t position, int64_t bytes) {
  constexpr int some = 16;
  Run runs[some];
  int64_t covered = 0;
  const int count = view.list(position, bytes, runs, some, covered);
  return count == 0 ? 0 : covered / count;
}

}  // namespace

// Tells all ranks the part of this one.
bool CollectiveAccess::meet() {
  const int64_t bytes = memory_.bytes();
  mine_ = {.bytes = bytes,
           .error = result_.error,
           .flags = (view_.rising ? AccessSummary::rising : 0) | (file_.local ? AccessSummary::local : 0)};
  if (bytes > 0) {
    mine_.first = view_.offset_of(position_);
    mine_.end = view_.offset_of(position_ + bytes - 1) + 1;
    mine_.run = typical_run(view_, position_, bytes);
  }
  if (!writes_) {
    struct stat facts {};
    // Devices have no size: they are read by each rank alone.
    if (::fstat(file_.fd(), &facts) == 0 && S_ISREG(facts.st_mode)) {
      mine_.size = facts.st_size;
    } else {
      mine_.flags &= ~AccessSummary::rising;
    }
  }
  parts_.resize(static_cast<size_t>(file_.comm->size));
  const coll::Block ours{&mine_, sizeof mine_, &datatype::byte_type};
  const coll::Blocks all(parts_.data(), sizeof mine_, datatype::byte_type);
  if (request_ == nullptr) {
    note_exchange(coll::allgather(*file_.comm, ours, all));
    return true;
  }
  return perform_schedule([&](coll::Schedule& way) { coll::plan::allgather(way, ours, all); });
}

// Decides the same on all ranks, since it uses only the parts of all ranks and hints that all ranks share.
void CollectiveAccess::decide() {
  int64_t first = INT64_MAX;
  int64_t end = 0;
  int64_t bytes = 0;
  int64_t run = INT64_MAX;
  int64_t size = 0;
  int64_t before = 0;  // the end of the ranks before
  bool interleaved = false;
  int32_t flags = AccessSummary::rising | AccessSummary::local;  // that all ranks have
  for (size_t r = 0; r < parts_.size(); ++r) {
    const AccessSummary& part = parts_[r];
    if (part.error != no_error) {
      result_ = {.error = part.error, .act = Act::arguments, .rank = static_cast<int32_t>(r)};
      stage_ = AccessStage::end;
      return;
    }
    size = std::max(size, part.size);
    flags &= part.flags | (part.bytes == 0 ? AccessSummary::rising : 0);
    if (part.bytes == 0) continue;
    first = std::min(first, part.first);
    end = std::max(end, part.end);
    bytes += part.bytes;
    run = std::min(run, part.run);
    interleaved |= part.first < before;
    before = std::max(before, part.end);
  }
  stage_ = AccessStage::alone;
  if (bytes == 0 || (flags & AccessSummary::rising) == 0 || file_.atomic) return;
  if (run >= ((flags & AccessSummary::local) != 0 ? large_run_of_host : large_run)) interleaved = false;
  if (!exchanges_pay(first, end, bytes, interleaved)) return;
  if (!writes_) end = std::min(end, size);
  if (first >= end) return;
  // A read asks for nothing behind the end of the file.
  int64_t ours = mine_.bytes;
  if (!writes_ && mine_.end > end) ours = std::max<int64_t>(0, view_.position_at(end) - position_);
  done_ = std::min(ours, mine_.bytes);
  std::vector<ByteRange> spans;
  spans.reserve(parts_.size());
  for (const AccessSummary& part : parts_) {
    spans.push_back(part.bytes == 0 ? ByteRange{} : ByteRange{part.first, std::min(part.end, end)});
  }
  phases_ = std::make_unique<Phases>(file_, writes_, view_, position_, memory_, done_, ByteRange{first, end},
                                     std::move(spans));
  stage_ = AccessStage::heads;
}

bool CollectiveAccess::exchanges_pay(int64_t first, int64_t end, int64_t bytes, bool interleaved) const {
  constexpr int64_t sparse = 16;      // a window holds so little of what is wanted that runs are as good
  constexpr int64_t sparsest = 4096;  // even if it is asked for: rounds go through all windows
  const HintChoice choice = writes_ ? file_.hints.collective_writes : file_.hints.collective_reads;
  if (choice == HintChoice::disable || (end - first) / sparsest > bytes) return false;
  if (choice == HintChoice::enable) return true;
  return file_.comm->size > 1 && interleaved && (end - first) / sparse <= bytes;
}

void CollectiveAccess::run() {
  access();
  come_back(*this);
}

// Whether a further round is worth a worker. If all ranks are on one host, an exchange is a copy in memory, which takes
// a tenth of the time of storage as slow as 1 GB/s, and a worker takes a processor from it.
bool CollectiveAccess::pays_behind() const {
  return !phases_->all_prepared() && (request_ != nullptr || !file_.one_host);
}

namespace {

constinit std::atomic<uint64_t> behind_exchanges = 0;

}  // namespace

uint64_t rounds_behind_exchanges() {
  return behind_exchanges.load(std::memory_order_relaxed);
}

void CollectiveAccess::start_behind() {
  behind_exchanges.fetch_add(1, std::memory_order_relaxed);
  behind_.request_ = request_ == nullptr ? coll::new_composite(*file_.comm) : nullptr;
  behind_.under_way_ = true;
  behind_.met_.store(false, std::memory_order_relaxed);
  if (request_ == nullptr && behind_.request_ == nullptr) return phases_->access();  // no memory for a request
  post(behind_);
}

// Waits for the access behind the exchange; whether it is over.
bool CollectiveAccess::join() {
  if (!behind_.under_way_) return true;
  if (request_ != nullptr) return behind_.met_.exchange(true, std::memory_order_acq_rel);
  if (behind_.request_ == nullptr) return true;
  core::wait(*behind_.request_);
  core::free_request(behind_.request_);
  behind_.request_ = nullptr;
  return true;
}

void CollectiveAccess::Behind::run() {
  whole_.phases_->access();
  if (request_ != nullptr) {
    complete_from_worker(*request_);
  } else {
    come_back(*this);
  }
}

void CollectiveAccess::Behind::follow() {
  if (met_.exchange(true, std::memory_order_acq_rel)) whole_.advance();
}

bool CollectiveAccess::use_disk() {
  if (request_ == nullptr) {
    access();
    return true;
  }
  post(*this);
  return false;
}

void CollectiveAccess::access() {
  if (phases_ != nullptr) return phases_->access();
  note(access_alone(file_, writes_, view_, position_, memory_, done_));
}

void CollectiveAccess::note(const Result& result) {
  if (!result_.failed()) result_ = result;
}

void CollectiveAccess::note_exchange(int32_t error) {
  if (error != core::no_error) note(failure(error == core::truncated ? internal_error : error, Act::exchange));
}

void CollectiveAccess::count_exchange() {
  if (file_.tally != nullptr) file_.tally->exchange(base::now_ns() - exchange_began_);
}

template <class Plan>
bool CollectiveAccess::perform_schedule(Plan&& plan) {
  schedule_.emplace(*file_.comm);
  plan(*schedule_);
  return launch();
}

// A schedule that could not be planned is not started; the others notice by messages that are missing, which only the
// lack of memory for a few bytes can cause.
bool CollectiveAccess::launch() {
  core::Request* request = schedule_->error() == core::no_error ? coll::new_composite(*file_.comm) : nullptr;
  if (request == nullptr) {
    note(failure(no_memory, Act::exchange));
    return true;
  }
  exchange_began_ = file_.tally != nullptr ? base::now_ns() : 0;
  if (request_ == nullptr) {
    schedule_->start(*request);
    core::wait(*request);
    count_exchange();
    note_exchange(request->error);
    core::free_request(request);
    return true;
  }
  request->owner = this;
  request->on_done = step_ended;
  met_.store(false, std::memory_order_relaxed);
  schedule_->start(*request);
  return met_.exchange(true, std::memory_order_acq_rel);
}

bool CollectiveAccess::step_ended(core::Request& request) {
  auto& access = *static_cast<CollectiveAccess*>(request.owner);
  access.count_exchange();
  access.note_exchange(request.error);
  core::free_request(&request);
  if (access.met_.exchange(true, std::memory_order_acq_rel)) access.advance();
  return false;
}

// The first rank that failed, and the end of the file.
bool CollectiveAccess::agree() {
  if (phases_ != nullptr) note(phases_->result());
  votes_[0] = result_.failed() ? file_.comm->rank : INT64_MAX;
  votes_[1] = phases_ != nullptr ? phases_->end_found() : INT64_MAX;
  if (request_ == nullptr) {
    note_exchange(coll::allreduce(*file_.comm, votes_, agreed_, 2, smaller_number()));
    return true;
  }
  return perform_schedule(
      [&](coll::Schedule& way) { coll::plan::allreduce(way, votes_, agreed_, 2, smaller_number()); });
}

bool CollectiveAccess::tell() {
  if (!writes_ && phases_ != nullptr && agreed_[1] < INT64_MAX && mine_.end > agreed_[1]) {
    done_ = std::clamp<int64_t>(view_.position_at(agreed_[1]) - position_, 0, done_);
  }
  if (agreed_[0] == INT64_MAX) return true;
  const auto root = static_cast<int32_t>(agreed_[0]);
  if (root == file_.comm->rank) result_.rank = root;
  const coll::Block block{&result_, sizeof result_, &datatype::byte_type};
  if (request_ == nullptr) {
    note_exchange(coll::bcast(*file_.comm, block.data, block.count, *block.type, root));
    return true;
  }
  return perform_schedule([&](coll::Schedule& way) { coll::plan::bcast(way, block, root); });
}

// The request is its owner's from its completion on, and this object with it.
void CollectiveAccess::finish() {
  if (writes_ && done_ > 0) file_.dirty.store(true, std::memory_order_relaxed);
  if (result_.rank == file_.comm->rank) result_.rank = -1;
  if (request_ == nullptr) return;
  request_->received = done_;
  request_->error = result_.error;
  if (result_.failed()) path_ = file_.path;
  CollectiveAccess* next = nullptr;
  {
    std::lock_guard guard(file_.guard);
    next = file_.first = next_;
    if (next == nullptr) file_.last = nullptr;
  }
  core::complete(*request_);
  if (next != nullptr) next->advance();
}

}  // namespace weft::io
