// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/outbox.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/copy.hpp"
#include "base/thread_number.hpp"
#include "base/tsan.hpp"
#include "core/lane/lane.hpp"
#include "core/lane/progress_hooks.hpp"
#include "core/message/send_queue.hpp"
#include "core/object/failure.hpp"
#include "core/object/handle_table.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/lane_wait.hpp"
#include "core/rma/global.hpp"
#include "core/rma/wire.hpp"
#include "core/thread/thread.hpp"
#include "datatype/pack.hpp"

namespace weft::core::rma {

namespace {

constexpr uint32_t gathered_most = 8152;
constexpr size_t staged_most = 32 << 10;

// The boxes of a lane that progress looks at.
struct alignas(64) Gathered {
  base::Lock lock;  // behind that of a box; its holder only tries those
  std::atomic<LaneBox*> first = nullptr;

  // The lock is held. Progress is told when the first box comes and when the last one goes.
  void set_first(LaneBox* box) {
    const bool had = first.load(std::memory_order_relaxed) != nullptr;
    first.store(box, std::memory_order_relaxed);
    if ((box != nullptr) != had) gathering.fetch_add(had ? -1 : 1, std::memory_order_relaxed);
  }
};
constinit Gathered gathered[transport::max_lanes];

struct alignas(64) AwaitedByLane {
  HandleTable<Awaited> table;
};
constinit AwaitedByLane all_awaited[transport::max_lanes];

Frame frame_of(const Window& window, uint32_t bytes) {
  return {window.comm->context, window.generation, window.rank, bytes};
}

// Puts a record where it goes; the bytes it takes.
size_t write(char* to, const Record& record, const Run* runs, const Payload& payload, size_t bytes) {
  char* at = to;
  std::memcpy(at, &record, sizeof record);
  at += sizeof record;
  if (record.runs != 0) base::copy(at, runs, record.runs * sizeof *runs);
  at += record.runs * sizeof *runs;
  if (bytes == 0) return static_cast<size_t>(at - to);
  if (payload.local == nullptr) {
    base::copy(at, payload.raw, bytes);
  } else if (payload.local->is_plain()) {
    base::copy(at, static_cast<const char*>(payload.local->buffer) + payload.position, bytes);
  } else {
    const Local& local = *payload.local;
    datatype::packing(local.on_device)(*local.type, local.count, local.buffer, payload.position, at,
                                       static_cast<int64_t>(bytes));
  }
  std::memset(at + bytes, 0, padded(bytes) - bytes);
  return static_cast<size_t>(at - to) + padded(bytes);
}

size_t size_of(const Record& record, size_t bytes) {
  return sizeof record + record.runs * sizeof(Run) + padded(bytes);
}

// The box's lock is held.
void enlist(LaneBox& box) {
  if (box.listed) return;
  box.listed = true;
  Gathered& list = gathered[box.lane];
  const std::lock_guard guard(list.lock);
  box.next = list.first.load(std::memory_order_relaxed);
  list.set_first(&box);
}

}  // namespace

uint64_t cookie_of(Awaited& awaited, uint32_t lane) {
  auto& table = all_awaited[lane].table;
  const uint64_t cookie = table.add(awaited);
  if (cookie == table.none) {
    failed(FailureCause::memory,
           {.cause = "no memory to note what a rank of a window answers", .remedy = "free memory on this host"});
  }
  return cookie;
}

Awaited* find_awaited(uint32_t lane, uint64_t cookie) {
  base::take_from_process(&all_awaited[lane]);  // given by the sender of the record
  return all_awaited[lane].table.find(cookie);
}

void forget_awaited(uint32_t lane, uint64_t cookie) {
  (void)all_awaited[lane].table.remove(cookie);
}

bool Ticket::on_answer(Awaited& awaited, const Answer& answer, const char* /*data*/) {
  auto& ticket = static_cast<Ticket&>(awaited);
  if (answer.error != no_error) ticket.error_.store(answer.error, std::memory_order_relaxed);
  ticket.left_.fetch_sub(1, std::memory_order_release);  // pairs with wait(); the ticket may be gone now
  tell_sleepers(nullptr);
  return true;
}

int32_t Ticket::wait() {
  wait_until([this] { return left_.load(std::memory_order_acquire) == 0; });
  return error_.load(std::memory_order_relaxed);
}

LaneBox::LaneBox(Window& in, int32_t rank, uint32_t by_lane)
    : window(in),
      peer(peers->of(in.comm->job_rank(rank))),
      lane(by_lane),
      capacity((std::min(frame_limit(), gathered_most) - static_cast<uint32_t>(sizeof(Frame))) & ~7U),
      bytes(new char[sizeof(Frame) + capacity]) {}

size_t LaneBox::room() const {
  const size_t staged_room = std::min(peer.transport->capabilities().staging_most, staged_most);
  return std::max<size_t>(staged_room & ~size_t{7}, capacity) - sizeof(Record);
}

void LaneBox::settle(uint64_t number) {
  uint64_t known = settled.load(std::memory_order_relaxed);
  while (known < number && !settled.compare_exchange_weak(known, number, std::memory_order_release)) {
  }
}

// Messages that wait for space on the way to the peer go first. A peer that is lost gets nothing any more.
bool LaneBox::send() {
  using transport::Post;
  if (peer.lost.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    if (staged_bytes != 0) peer.transport->drop_staging(staged, staged_bytes);
    used = staged_bytes = 0;
  }
  base::give_to_process(&all_awaited[lane]);
  const transport::Envelope envelope{0, peer.our_rank, 0, lane};
  if (used != 0 && !peer.queues_on(lane)) {
    const Frame frame = frame_of(window, used);
    std::memcpy(bytes.get(), &frame, sizeof frame);
    const auto size = static_cast<uint32_t>(sizeof frame) + used;
    const Post post = peer.endpoint->send(wire::records, envelope, bytes.get(), size);
    if (post != Post::retry) used = 0;
  }
  if (staged_bytes != 0 && used == 0 && !peer.queues_on(lane)) {
    const StagedFrame frame{frame_of(window, staged_bytes), staged.handle, peer.our_rank, 0};
    const Post post =
        peer.endpoint->send_staged(wire::records_staged, envelope, &frame, sizeof frame, staged, staged_bytes);
    if (post != Post::retry) staged_bytes = 0;
  }
  const bool gone = used == 0 && staged_bytes == 0;
  if (!gone && !full) count(this_thread().retries);
  if (std::exchange(full, !gone) && gone) tell_sleepers(nullptr);  // those in enter()
  return gone;
}

// Takes the lock, when there are `size` bytes of space.
void LaneBox::enter(size_t size) {
  bool entered = false;
  const auto can_enter = [&] {  // asked again when it has held
    if (entered) return true;
    lock.lock();
    const GlobalGuard global;
    entered = (staged_bytes == 0 && used + size <= capacity) || send();
    if (!entered) {
      enlist(*this);
      lock.unlock();
    }
    return entered;
  };
  if (!can_enter()) wait_on(lane, can_enter);
}

// The lock is held.
void LaneBox::note(const Record& record) {
  const bool asks = record.action == Action::flush;
  if (!moves_data(record.action) && !asks) return;
  const uint64_t number = added.load(std::memory_order_relaxed) + (asks ? 0 : 1);
  added.store(number, std::memory_order_relaxed);
  if (record.cookie == 0) return;
  answered.store(number, std::memory_order_relaxed);
  find_awaited(lane, record.cookie)->number = number;
}

// The lock is held.
void LaneBox::leave(Leave when) {
  if (when == Leave::later || !send()) enlist(*this);
}

void LaneBox::add(const Record& record, const Run* runs, const Payload& payload, size_t data, Leave when) {
  const size_t size = size_of(record, data);
  if (size > capacity) return add_staged(record, runs, payload, data);
  enter(size);
  const std::lock_guard guard(lock, std::adopt_lock);
  const GlobalGuard global;
  note(record);
  used += static_cast<uint32_t>(write(bytes.get() + sizeof(Frame) + used, record, runs, payload, data));
  leave(when);
}

void LaneBox::add_staged(const Record& record, const Run* runs, const Payload& payload, size_t data) {
  const size_t size = size_of(record, data);
  transport::Staging memory;
  wait_until([&] {  // asked again when it has held
    if (memory.memory == nullptr) memory = peer.transport->reserve_staging(size);
    return memory.memory != nullptr;
  });
  (void)write(static_cast<char*>(memory.memory), record, runs, payload, data);
  enter(capacity);
  const std::lock_guard guard(lock, std::adopt_lock);
  const GlobalGuard global;
  note(record);
  staged = memory;
  staged_bytes = static_cast<uint32_t>(size);
  leave(Leave::now);
}

void LaneBox::send_all() {
  const std::lock_guard guard(lock);
  const GlobalGuard global;
  leave(Leave::now);
}

namespace {

// Whether anything has left.
bool send_gathered_of(Gathered& list) {
  if (list.first.load(std::memory_order_relaxed) == nullptr) return false;
  const std::unique_lock guard(list.lock, std::try_to_lock);
  if (!guard.owns_lock()) return false;
  bool sent = false;
  LaneBox* still = nullptr;
  for (LaneBox *box = list.first.load(std::memory_order_relaxed), *next = nullptr; box != nullptr; box = next) {
    next = box->next;
    bool gone = false;
    if (box->lock.try_lock()) {  // otherwise a thread adds to it
      const bool had = box->used != 0 || box->staged_bytes != 0;
      gone = box->send();
      sent |= had && gone;
      box->listed = !gone;
      box->lock.unlock();
    }
    if (gone) continue;
    box->next = still;
    still = box;
  }
  list.set_first(still);
  return sent;
}

bool send_gathered() {
  bool sent = false;
  const uint32_t own = threads->concurrent && !this_thread().service ? base::thread_number() : 0;
  const uint32_t mask = lanes->map.mask;
  for (uint32_t i = 0; i <= mask; ++i) sent |= send_gathered_of(gathered[(own + i) & mask]);
  return sent;
}

constinit const core::FlushHook gathered_records{"windows", send_gathered};
WEFT_FLUSH(gathered_records);

}  // namespace

Outbox::Outbox(Window& in, int32_t to)
    : window(in),
      rank(to),
      mask(lanes->map.mask & peers->of(in.comm->job_rank(to)).lane_map.mask),
      by_lane(new std::atomic<LaneBox*>[mask + 1]()) {}

uint32_t Outbox::own_lane() const {
  return mask == 0 ? 0 : base::thread_number() & mask;
}

LaneBox& Outbox::at(uint32_t lane) {
  LaneBox* made = find(lane);
  if (made != nullptr) return *made;
  const std::lock_guard guard(window.guard);
  made = by_lane[lane].load(std::memory_order_relaxed);
  if (made == nullptr) {
    made = new LaneBox(window, rank, lane);
    by_lane[lane].store(made, std::memory_order_release);
  }
  return *made;
}

Outbox& outbox_of(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  Outbox* made = known_outbox(target);
  if (made != nullptr) return *made;
  const std::lock_guard guard(window.guard);
  const std::atomic_ref outbox(target.outbox);
  made = outbox.load(std::memory_order_relaxed);
  if (made == nullptr) {
    made = new Outbox(window, rank);
    made->made_before = window.outboxes;
    std::atomic_ref(window.outboxes).store(made, std::memory_order_release);
    outbox.store(made, std::memory_order_release);
  }
  return *made;
}

LaneBox& box_of(Window& window, int32_t rank) {
  Outbox& all = outbox_of(window, rank);
  return all.at(all.own_lane());
}

namespace {

LaneBox& pin(Outbox& all) {
  const uint32_t own = all.own_lane();
  for (;;) {
    uint32_t lane = all.updates.load(std::memory_order_acquire);
    if (lane == Outbox::nobody) {
      (void)all.updates.compare_exchange_strong(lane, own, std::memory_order_acq_rel);
      continue;
    }
    LaneBox& box = all.at(lane);
    const std::lock_guard guard(box.lock);
    if (all.updates.load(std::memory_order_relaxed) != lane) continue;
    if (lane == own || box.pins.load(std::memory_order_acquire) != 0 || !box.is_settled()) {
      box.pins.fetch_add(1, std::memory_order_relaxed);
      return box;
    }
    all.updates.store(own, std::memory_order_release);
  }
}

}  // namespace

InOrder::InOrder(Window& window, int32_t rank) : box(pin(outbox_of(window, rank))) {}

namespace {

void unlist(const LaneBox* box) {
  Gathered& list = gathered[box->lane];
  const std::lock_guard guard(list.lock);
  LaneBox* before = nullptr;
  for (LaneBox* o = list.first.load(std::memory_order_relaxed); o != nullptr; before = o, o = o->next) {
    if (o != box) continue;
    if (before != nullptr) before->next = box->next;
    if (before == nullptr) list.set_first(box->next);
    break;
  }
}

}  // namespace

void drop_outboxes(Window& window) {
  while (Outbox* const all = window.outboxes) {
    window.outboxes = all->made_before;
    for (uint32_t lane = 0; lane <= all->mask; ++lane) {
      const std::unique_ptr<const LaneBox> box(all->find(lane));
      if (box != nullptr) unlist(box.get());
    }
    delete all;
  }
}

void tell(const Window& window, int32_t rank, Action action, uint64_t cookie) {
  if (rank == window.rank) {
    if (action == Action::post) window.targets[rank].posts.fetch_add(1, std::memory_order_release);
    if (action == Action::complete) window.targets[rank].completes.fetch_add(1, std::memory_order_release);
    return tell_sleepers(nullptr);
  }
  struct {
    Frame frame;
    Record record;
  } message{frame_of(window, sizeof(Record)), {}};
  message.record.action = action;
  message.record.cookie = cookie;
  send_control(peers->of(window.comm->job_rank(rank)), 0, wire::records, &message, sizeof message);
}

}  // namespace weft::core::rma
