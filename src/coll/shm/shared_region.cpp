// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shm/shared_region.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "base/clock.hpp"
#include "coll/agree/agree.hpp"
#include "coll/shm/deferred_release.hpp"
#include "coll/shm/exchange_buffers.hpp"
#include "core/memory/shared.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/waiting.hpp"

namespace weft::coll {

namespace {

constexpr int64_t area_step = SharedRegion::most_chunks * 4096;
constexpr int64_t least_area = SharedRegion::most_areas / most_sharing;
static_assert(least_area % area_step == 0);

uint64_t sample_of(int32_t rank) {
  return 0x5745465400000000 + static_cast<uint64_t>(rank);
}

}  // namespace

SharedRegion::SharedRegion(core::Comm& comm)
    : comm_(comm), size_(comm.size), rank_(comm.rank), wakeup_(comm), sample_(sample_of(comm.rank)), depth_(lines) {}

// Memory of rank 0, `ours` there, for all of them; nullptr on all ranks when one of them cannot have it. `alike` is
// true where it was on all ranks.
char* SharedRegion::share_memory(size_t bytes, void*& ours, bool* alike) {
  core::MemoryRef memory{0, core::MemoryRef::no_key};
  if (ours != nullptr) memory = core::memory::register_memory(ours, bytes);
  const Founders all = founders_of(comm_);
  int32_t error = spread(all, 0, &memory, sizeof memory);
  char* mapped = nullptr;
  if (error == core::no_error && memory.key != core::MemoryRef::no_key) {
    mapped = core::memory::map(comm_.job_rank(0), memory);
  }
  constexpr uint64_t has_memory = 1;
  constexpr uint64_t is_alike = 2;
  Vote vote{0, (mapped != nullptr ? has_memory : 0) | (alike != nullptr && *alike ? is_alike : 0)};
  error = agree(all, vote);
  if (alike != nullptr) *alike = (vote.bits & is_alike) != 0;
  if (error == core::no_error && (vote.bits & has_memory) != 0) return mapped;
  if (ours != nullptr) (void)core::release_shared(ours);
  ours = nullptr;
  return nullptr;
}

bool SharedRegion::make_boards() {
  const size_t bytes = boards_bytes(size_);
  if (rank_ == 0) {
    release_empty();
    our_memory_[0] = core::allocate_shared(bytes, 4096);
  }
  char* const memory = share_memory(bytes, our_memory_[0]);  // zeros: no rank has posted or passed anything
  if (memory == nullptr) return false;
  head_ = reinterpret_cast<RegionHead*>(memory);
  boards_ = reinterpret_cast<Board*>(memory + sizeof(RegionHead));
  ours_ = &boards_[rank_];
  ours_->sample_at = reinterpret_cast<uint64_t>(&sample_);
  wakeup_.find();
  return true;
}

// The others have told where; see shm_blocking::enter().
bool SharedRegion::reads_all() const {
  for (int32_t r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    uint64_t sample = 0;
    const core::MemoryRef there{boards_[r].sample_at, core::MemoryRef::no_key};
    if (core::peers->of(comm_.job_rank(r)).endpoint->get(there, &sample, sizeof sample) != 0) return false;
    if (sample != sample_of(r)) return false;
  }
  return true;
}

// Each rank touches its own chunks first, and what it does not need is not touched: there may be many communicators.
void SharedRegion::make_chunks() {
  area_ = std::min(most_area, most_areas / size_ / area_step * area_step);
  if (rank_ == 0) {
    release_empty();
    for (;; area_ = area_ / 2 / area_step * area_step) {
      our_memory_[1] = core::grant_shared(static_cast<size_t>(size_ * area_), {}).memory;
      if (our_memory_[1] != nullptr || area_ < 2 * least_area) break;
    }
  }
  (void)spread(founders_of(comm_), 0, &area_, sizeof area_);  // an error returns below
  if (area_ < least_area || area_ > most_area || area_ % area_step != 0) {
    core::failed(
        core::FailureCause::protocol, comm_.job_rank(0),
        {.cause = "a communicator's first rank tells of " + std::to_string(area_) + " bytes for a rank's chunks",
         .remedy = "run all ranks with the same version of Weft"});
  }
  scratch_.reset(new (std::nothrow) unsigned char[static_cast<size_t>(2 * scratch_bytes)]);
  bool can_read = scratch_ != nullptr && reads_all();
  areas_ =
      reinterpret_cast<unsigned char*>(share_memory(static_cast<size_t>(size_ * area_), our_memory_[1], &can_read));
  chunk_state_ = areas_ != nullptr ? Chunks::here : Chunks::none;
  can_read_ = can_read && areas_ != nullptr;
  if (!can_read_) scratch_.reset();
}

SharedRegion& SharedRegion::made(core::Comm& comm) {
  if (comm.region == nullptr) comm.region = new (std::nothrow) SharedRegion(comm);
  if (comm.region == nullptr) {  // the others would wait for this rank
    core::failed(core::FailureCause::memory,
                 {.cause = "no memory for a communicator", .remedy = "free memory on this host"});
  }
  return *comm.region;
}

[[gnu::cold]] SharedRegion* SharedRegion::made_with_boards(core::Comm& comm) {
  SharedRegion& region = made(comm);
  if (!region.tried_) (void)region.make_boards();
  region.tried_ = true;
  return region.head_ != nullptr ? &region : nullptr;
}

SharedRegion* SharedRegion::of(core::Comm& comm) {
  SharedRegion* region = comm.region;
  if (region != nullptr && region->head_ != nullptr) [[likely]]
    return region;
  return made_with_boards(comm);
}

ExchangeBuffers* SharedRegion::buffers(const core::Comm& comm) {
  return comm.region != nullptr ? comm.region->buffers_.get() : nullptr;
}

std::unique_ptr<ExchangeBuffers>& SharedRegion::place_of_buffers(core::Comm& comm) {
  return made(comm).buffers_;
}

void SharedRegion::leave(core::Comm& comm) {
  delete comm.region;
  comm.region = nullptr;
}

// Communicators may outlive the runtime, and with it the memory.
SharedRegion::~SharedRegion() {
  if (head_ == nullptr || !core::identity->running) return;
  if (rank_ == 0) release_when_left(head_->left, size_, our_memory_[0], our_memory_[1]);
  head_->left.fetch_add(1, std::memory_order_release);
}

bool SharedRegion::begin(uint64_t call, bool together) {
  call_ = call;
  about_ = call;
  error_ = core::no_error;
  in_lines_ = true;
  place_bytes_ = line_bytes;
  single_copy_ = false;
  together_ = together;
  depth_ = lines;
  step_ = 2;
  agreed_ = phase_;
  uint64_t before = operation_++;
  ours_->calls[operation_ % most_ahead].store(call, std::memory_order_release);
  return ours_->entered.compare_exchange_strong(before, operation_, std::memory_order_acq_rel);
}

// A rank is closing the counters.
void SharedRegion::await_broken() const {
  while (!head_->broken.load(std::memory_order_acquire)) base::cpu_relax();
}

int32_t SharedRegion::begin_broken() {
  await_broken();
  if (head_->breaks.load(std::memory_order_relaxed) == operation_) {
    error_ = head_->error.load(std::memory_order_relaxed);
  } else if (!together_ && is_begun()) {
    error_ = core::other_error;
  } else {
    return go_by_messages;
  }
  tell_disagreement();
  return error_;
}

// Whether other ranks have entered this operation.
bool SharedRegion::is_begun() const {
  for (int32_t r = 0; r < size_; ++r) {
    if ((boards_[r].entered.load(std::memory_order_acquire) & ~closed) >= operation_) return true;
  }
  return false;
}

// The chunks of operations before are still read by ranks that are behind.
void SharedRegion::use_chunks(int64_t posted) {
  in_lines_ = false;
  depth_ = posted == unknown_bytes ? fewest_chunks : std::max(fewest_chunks, area_ / cell_bytes);
  while (crowded() && depth_ < most_chunks && posted <= area_ / depth_ / 2) depth_ *= 2;
  place_bytes_ = area_ / depth_;
  if (chunk_bytes_ == place_bytes_) return;
  chunk_bytes_ = place_bytes_;
  cut_ = phase_;
}

int32_t SharedRegion::meet(int32_t root) {
  const int64_t phase = next();
  if (rank_ != root && !say(phase)) return error_;
  for (int32_t r = 0; r < size_; ++r) {
    const bool wanted = r != rank_ && (root == everybody || r == root || rank_ == root);
    if (wanted && await(r, phase) == nullptr) return error_;
  }
  if (rank_ == root && !say(phase)) return error_;
  pass(phase);
  agreed_ = phase;
  return core::no_error;
}

bool SharedRegion::say(int64_t phase) {
  if (open(phase) == nullptr) return false;
  post(phase);
  return true;
}

void SharedRegion::fail(int32_t error, const Difference* difference) {
  if (error_ != core::no_error) return;
  error_ = error;
  uint64_t breaks = 0;
  if (head_->breaks.compare_exchange_strong(breaks, operation_)) {
    head_->error.store(error, std::memory_order_relaxed);
    if (difference != nullptr) {
      head_->operation.store(difference->operation, std::memory_order_relaxed);
      head_->rank[0].store(difference->rank, std::memory_order_relaxed);
      head_->call[0].store(difference->theirs, std::memory_order_relaxed);
      head_->rank[1].store(rank_, std::memory_order_relaxed);
      head_->call[1].store(difference->ours, std::memory_order_relaxed);
    }
    for (int32_t r = 0; r < size_; ++r) boards_[r].entered.fetch_or(closed, std::memory_order_acq_rel);
    head_->broken.store(true, std::memory_order_release);
    return wakeup_.rouse();
  }
  if (breaks > operation_) return;
  await_broken();
  if (breaks == operation_) {
    error_ = head_->error.load(std::memory_order_relaxed);
  } else {
    error_ = together_ ? go_by_messages : core::other_error;
  }
  tell_disagreement();
}

// Where ranks disagreed, a person reads of another rank's call, and of ours in that operation if it is known.
void SharedRegion::tell_disagreement() {
  const uint64_t calls[] = {head_->call[0].load(std::memory_order_relaxed),
                            head_->call[1].load(std::memory_order_relaxed)};
  if (calls[0] == calls[1]) return;
  uint64_t ours = 0;
  const bool known = knows_call(rank_, head_->operation.load(std::memory_order_relaxed), ours);
  const int other = known && calls[0] == ours ? 1 : 0;
  const int32_t rank = head_->rank[other].load(std::memory_order_relaxed);
  comm_.truncation = known ? call::difference(rank, calls[other], ours)
                           : call::difference(rank, calls[0], calls[1], call::Whose::of_another);
}

void SharedRegion::truncate(int32_t rank, int64_t bytes, int64_t room) {
  comm_.truncation = {rank, bytes, room};
  fail(core::truncated);
}

namespace {

// The number of the second half of the phase's line.
int64_t last_half(int64_t phase) {
  return phase | 1;
}

// The part of an operation that waits for one rank.
class WaitsFor : public core::Teller {
 public:
  WaitsFor(const core::Comm& comm, int32_t job_rank) : Teller(tell_all), comm_(comm), job_rank_(job_rank) {}

 private:
  static void tell_all(const Teller& self, core::WaitRecord& wait_record) {
    const auto& mine = static_cast<const WaitsFor&>(self);
    wait_record = {.kind = core::WaitKind::collective, .call = "a collective operation", .comm = &mine.comm_};
    mine.tell_before(wait_record);
    wait_record.target = mine.job_rank_;
  }
  const core::Comm& comm_;
  const int32_t job_rank_;
};

}  // namespace

// Whether `ready` within a short while.
template <class Ready>
[[gnu::always_inline]] inline bool SharedRegion::look(Ready ready) {
  constexpr int looks = 100;
  if (!core::Backoff::spins()) return false;
  for (int i = 0; i < looks; ++i) {
    if (ready()) return true;
    base::cpu_relax();
  }
  return false;
}

// Until `ready`, something that the rank does. False: the region is broken.
template <class Ready>
[[gnu::always_inline]] inline bool SharedRegion::wait(int32_t rank, Ready ready) {
  return look(ready) || wait_long(rank, ready);
}

template <class Ready>
bool SharedRegion::wait_long(int32_t rank, Ready ready) {
  core::Peer& peer = core::peers->of(comm_.job_rank(rank));
  int32_t lost = core::no_error;
  auto over = [&] {
    if (ready()) return true;
    lost = peer.lost.load(std::memory_order_relaxed);
    return lost != core::no_error || head_->broken.load(std::memory_order_acquire);
  };
  {
    const WaitsFor told(comm_, peer.rank);
    core::wait_for_memory(over);
  }
  if (ready()) return true;
  fail(lost != core::no_error ? lost : head_->error.load(std::memory_order_relaxed));
  return false;
}

// All ranks have passed the phase that a place was written for, so that it may be written for this one.
[[gnu::always_inline]] inline bool SharedRegion::free_until(int64_t phase, int64_t written) {
  if (error_ != core::no_error) return false;
  while (floor_ < written) {
    int64_t lowest = phase;
    for (int32_t r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      if (!await_passed(r, written)) return false;
      lowest = std::min(lowest, boards_[r].passed.load(std::memory_order_relaxed));
    }
    floor_ = lowest;
  }
  return true;
}

unsigned char* SharedRegion::open(int64_t phase) {
  return free_until(phase, std::max(last_half(phase) - 2 * depth_, cut_)) ? place(rank_, phase) : nullptr;
}

unsigned char* SharedRegion::open_line(int64_t phase) {
  return free_until(phase, phase - 2 * lines) ? ours_->line[turn(phase)].data : nullptr;
}

[[gnu::always_inline]] inline void SharedRegion::write_heading(Line& line, int64_t phase, uint64_t about) {
  line.heading[0].store(about, std::memory_order_relaxed);
  line.heading[1].store(static_cast<uint64_t>(phase), std::memory_order_release);
}

// The heading of a phase that has the line to itself.
[[gnu::always_inline]] inline bool SharedRegion::tells(const Line& line, int64_t phase, uint64_t about) {
  return static_cast<int64_t>(line.heading[1].load(std::memory_order_acquire)) >= phase &&
         line.heading[0].load(std::memory_order_relaxed) == about;
}

[[gnu::always_inline]] inline uint64_t SharedRegion::half_heading(int64_t phase) const {
  return half_about_ | static_cast<uint64_t>(phase) >> phase_turn_bits << half_phase_shift;
}

// The number of a phase whose word is in this half, counted as the lines are.
int64_t SharedRegion::phase_of_half(uint64_t word, int64_t at) {
  return static_cast<int64_t>((word & ~half_mark) >> half_phase_shift << phase_turn_bits) + at;
}

[[gnu::always_inline]] inline void SharedRegion::write_post(int64_t phase) {
  Line& line = ours_->line[turn(phase)];
  if (in_halves()) {
    line.heading[phase & 1].store(half_heading(phase), std::memory_order_release);
  } else {
    write_heading(line, phase, about_);
  }
}

void SharedRegion::post(int64_t phase) {
  write_post(phase);
  wakeup_.rouse();
}

void SharedRegion::hand(int32_t rank, int64_t phase) {
  write_heading(boards_[rank].handed[turn(phase)], phase, about_from(rank_));
}

// The operation and bytes that a rank has posted first in this operation, if they differ from ours; ours otherwise. A
// half is in the line of the next phase, a whole line begins there or behind it.
uint64_t SharedRegion::other_about(int32_t rank) const {
  for (const int64_t first : {agreed_ + 1, agreed_ + 2}) {
    const Line& line = boards_[rank].line[turn(first)];
    for (const std::atomic<uint64_t>& heading : line.heading) {
      const uint64_t word = heading.load(std::memory_order_acquire);
      const int64_t at = 2 * static_cast<int64_t>(turn(first)) + (&heading - line.heading);
      if ((word & half_mark) == 0 || phase_of_half(word, at) <= agreed_) continue;
      constexpr uint64_t call_bits = (uint64_t{1} << (half_phase_shift - half_call_shift)) - 1;
      const uint64_t about = (word >> half_call_shift & call_bits) << call::details_shift | (word & half_bytes_most);
      if (about != about_) return about;
    }
    const auto whole = static_cast<int64_t>(line.heading[1].load(std::memory_order_acquire));
    if (whole > agreed_ && !tells(line, whole, about_)) return line.heading[0].load(std::memory_order_relaxed);
  }
  uint64_t call = 0;
  return knows_call(rank, operation_, call) && call != call_ ? call : about_;
}

// The rank's call of an operation. It may not have entered that one, or have entered so many more that it is not known.
bool SharedRegion::knows_call(int32_t rank, uint64_t operation, uint64_t& call) const {
  const Board& board = boards_[rank];
  if ((board.entered.load(std::memory_order_acquire) & ~closed) < operation) return false;
  call = board.calls[operation % most_ahead].load(std::memory_order_acquire);
  const uint64_t entered = board.entered.load(std::memory_order_acquire) & ~closed;
  return entered + 1 < operation + most_ahead;
}

// `about` is what the rank has posted. It may be in an operation that we have ended, with another call.
SharedRegion::Difference SharedRegion::difference_from(int32_t rank, uint64_t about) const {
  const uint64_t entered = boards_[rank].entered.load(std::memory_order_acquire) & ~closed;
  const uint64_t operation = std::min(entered, operation_);
  uint64_t theirs = 0;
  uint64_t ours = 0;
  const bool known = knows_call(rank, operation, theirs) && knows_call(rank_, operation, ours);
  if (known && theirs != ours) return {operation, rank, theirs, ours};
  return {operation_, rank, about, about_};  // the way of the data differs
}

[[gnu::cold]] void SharedRegion::disagree(int32_t rank, uint64_t about) {
  const Difference difference = difference_from(rank, about);
  comm_.truncation = call::difference(rank, difference.theirs, difference.ours);
  fail(call::error_of(difference.theirs, difference.ours), &difference);
}

// Looks at a rank that is not waited for, whose line may be at another phase.
[[gnu::always_inline]] inline bool SharedRegion::agrees(int32_t rank, int64_t phase) {
  const Line& line = boards_[rank].line[turn(phase)];
  bool differs = false;
  if (in_halves()) {
    const uint64_t difference = line.heading[phase & 1].load(std::memory_order_acquire) ^ half_heading(phase);
    differs = difference - 1 < (uint64_t{1} << half_phase_shift) - 1;  // the phase's number is above those bits
  } else {
    differs =
        static_cast<int64_t>(line.heading[1].load(std::memory_order_acquire)) == phase && !tells(line, phase, about_);
  }
  if (differs) [[unlikely]]
    disagree(rank, other_about(rank));
  return !differs;
}

bool SharedRegion::post_and_pass(int64_t phase, int32_t looks_at) {
  write_post(phase);
  ours_->passed.store(phase, std::memory_order_release);
  wakeup_.rouse();
  if (looks_at != everybody) return looks_at == nobody || agrees(looks_at, phase);
  constexpr int32_t few = 8;  // whose lines are looked at for nothing
  if (size_ > few) return true;
  for (int32_t r = 0; r < size_; ++r) {
    if (!agrees(r, phase)) return false;
  }
  return true;
}

// Until the rank has posted what we expect.
template <class Posted>
[[gnu::always_inline]] inline bool SharedRegion::await_told(int32_t rank, Posted posted) {
  if (error_ != core::no_error) return false;
  if (look(posted)) return true;
  if (!wait_long(rank, [=, this] { return posted() || other_about(rank) != about_; })) return false;
  if (posted()) return true;
  disagree(rank, other_about(rank));
  return false;
}

// Its own function, so that the way of a whole line stays short.
[[gnu::noinline]] const unsigned char* SharedRegion::await_half(int32_t rank, int64_t phase) {
  const std::atomic<uint64_t>& heading = boards_[rank].line[turn(phase)].heading[phase & 1];
  const auto posted = [&heading, wanted = half_heading(phase)] {
    return heading.load(std::memory_order_acquire) == wanted;
  };
  return await_told(rank, posted) ? place(rank, phase) : nullptr;
}

[[gnu::always_inline]] inline bool SharedRegion::await_posted(int32_t rank, const Line& line, int64_t phase) {
  return await_told(rank, [&line, phase, about = about_] { return tells(line, phase, about); });
}

const unsigned char* SharedRegion::await(int32_t rank, int64_t phase) {
  if (in_halves()) return await_half(rank, phase);
  return await_posted(rank, boards_[rank].line[turn(phase)], phase) ? place(rank, phase) : nullptr;
}

const unsigned char* SharedRegion::await_line(int32_t rank, int64_t phase) {
  const Line& line = boards_[rank].line[turn(phase)];
  return await_posted(rank, line, phase) ? line.data : nullptr;
}

// The rank posts its own line when it has handed all others.
const unsigned char* SharedRegion::await_handed(int32_t rank, int64_t phase) {
  const Line& ours = ours_->handed[turn(phase)];
  const auto handed = [&ours, phase, about = about_from(rank)] { return tells(ours, phase, about); };
  return await_told(rank, handed) ? ours.data : nullptr;
}

void SharedRegion::pass(int64_t phase) {
  ours_->passed.store(phase, std::memory_order_release);
  wakeup_.rouse();
}

bool SharedRegion::await_passed(int32_t rank, int64_t phase) {
  if (error_ != core::no_error) return false;
  const std::atomic<int64_t>& passed = boards_[rank].passed;
  return rank == rank_ || wait(rank, [&] { return passed.load(std::memory_order_acquire) >= phase; });
}

bool SharedRegion::await_passed(int64_t phase) {
  for (int32_t r = 0; r < size_; ++r) {
    if (!await_passed(r, phase)) return false;
  }
  return true;
}

bool SharedRegion::await_all(int64_t phase) {
  for (int32_t r = 0; r < size_; ++r) {
    if (r != rank_ && await(r, phase) == nullptr) return false;
  }
  return true;
}

bool SharedRegion::read(int32_t rank, const transport::MemoryRef& from, void* to, int64_t bytes) {
  if (error_ != core::no_error) return false;
  const int error = core::peers->of(comm_.job_rank(rank)).endpoint->get(from, to, static_cast<size_t>(bytes));
  // A rank that found the region broken may have left, and its memory may be gone.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (error == 0 && !is_breaking()) return true;
  fail(core::other_error);
  return false;
}

}  // namespace weft::coll
