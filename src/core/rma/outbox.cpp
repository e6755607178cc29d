// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/outbox.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/failure.hpp"
#include "core/numbered.hpp"
#include "core/rma/global.hpp"
#include "core/rma/wire.hpp"
#include "core/send_queue.hpp"
#include "core/waiting.hpp"
#include "core/work.hpp"
#include "datatype/pack.hpp"

namespace weft::core::rma {

namespace {

constexpr uint32_t gathered_most = 8152;
constexpr size_t staged_most = 32 << 10;

base::Lock list_lock;
Outbox* gathered = nullptr;  // the first outbox with something to send, under list_lock; its `next` leads on

// Under list_lock. Progress is told when the first outbox comes and when the last one goes.
void set_gathered(Outbox* first) {
  if ((first != nullptr) != (gathered != nullptr)) {
    gathering.fetch_add(first != nullptr ? 1 : -1, std::memory_order_relaxed);
  }
  gathered = first;
}

constinit Numbered<Awaited> all_awaited;

Frame frame_of(const Window& window, uint32_t bytes) {
  return {window.comm->context, window.generation, window.rank, bytes};
}

// Puts a record where it goes; the bytes it takes.
size_t write(char* to, const Record& record, const Run* runs, const Payload& payload, size_t bytes) {
  char* at = to;
  std::memcpy(at, &record, sizeof record);
  at += sizeof record;
  if (record.runs != 0) std::memcpy(at, runs, record.runs * sizeof *runs);
  at += record.runs * sizeof *runs;
  if (bytes == 0) return static_cast<size_t>(at - to);
  if (payload.local == nullptr) {
    std::memcpy(at, payload.raw, bytes);
  } else if (payload.local->type->contiguous) {
    std::memcpy(at, static_cast<const char*>(payload.local->buffer) + payload.position, bytes);
  } else {
    datatype::pack(*payload.local->type, payload.local->count, payload.local->buffer, payload.position, at,
                   static_cast<int64_t>(bytes));
  }
  std::memset(at + bytes, 0, padded(bytes) - bytes);
  return static_cast<size_t>(at - to) + padded(bytes);
}

size_t size_of(const Record& record, size_t bytes) {
  return sizeof record + record.runs * sizeof(Run) + padded(bytes);
}

// With the list's lock.
void enlist(Outbox& box) {
  if (box.listed) return;
  box.listed = true;
  box.next = gathered;
  set_gathered(&box);
}

// With its lock, which it gets before it leaves the list: nobody drops it in between. nullptr: there is none, or
// somebody adds to it.
Outbox* take_first() {
  std::lock_guard guard(list_lock);
  Outbox* first = gathered;
  if (first == nullptr || !first->lock.try_lock()) return nullptr;
  set_gathered(first->next);
  first->listed = false;
  return first;
}

}  // namespace

uint64_t cookie_of(Awaited& awaited) {
  const uint64_t cookie = all_awaited.add(awaited);
  if (cookie == all_awaited.none) {
    out_of_memory({.cause = "no memory to note what a rank of a window answers", .remedy = "free memory on this host"});
  }
  return cookie;
}

Awaited* find_awaited(uint64_t cookie) {
  return all_awaited.find(cookie);
}

void forget_awaited(uint64_t cookie) {
  (void)all_awaited.remove(cookie);
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

Outbox::Outbox(Window& in, int32_t rank)
    : window(in),
      peer(world->peer(in.comm->job_rank(rank))),
      capacity((std::min(frame_limit(), gathered_most) - static_cast<uint32_t>(sizeof(Frame))) & ~7U),
      bytes(new char[sizeof(Frame) + capacity]) {}

size_t Outbox::room() const {
  const size_t staged = std::min(peer.transport->capabilities().staging_most, staged_most);
  return std::max<size_t>(staged & ~size_t{7}, capacity) - sizeof(Record);
}

void Outbox::settle(uint64_t number) {
  uint64_t known = settled.load(std::memory_order_relaxed);
  while (known < number && !settled.compare_exchange_weak(known, number, std::memory_order_release)) {
  }
}

void Outbox::send() {
  if (used == 0) return;
  const Frame frame = frame_of(window, used);
  std::memcpy(bytes.get(), &frame, sizeof frame);
  send_control(peer, 0, wire::records, bytes.get(), static_cast<uint32_t>(sizeof frame) + used);
  used = 0;
}

void Outbox::add(const Record& record, const Run* runs, const Payload& payload, size_t data, Leave leave) {
  // Records that cannot leave are kept in memory: not without end.
  if (peer.queued.load(std::memory_order_relaxed)) {
    wait_until([this] { return !peer.queued.load(std::memory_order_relaxed); });
  }
  std::lock_guard guard(lock);
  GlobalGuard global;
  if (moves_data(record.action)) {
    ++added;
    if (record.cookie != 0) {
      answered = added;
      find_awaited(record.cookie)->number = added;
    }
  }
  const size_t size = size_of(record, data);
  if (size > capacity) {
    send();
    global.release();  // it may have to wait
    return send_staged(record, runs, payload, data);
  }
  if (used + size > capacity) send();
  used += static_cast<uint32_t>(write(bytes.get() + sizeof(Frame) + used, record, runs, payload, data));
  if (leave == Leave::now) return send();
  std::lock_guard list(list_lock);
  enlist(*this);
}

// Progress leaves this outbox alone meanwhile: its lock is taken.
void Outbox::send_staged(const Record& record, const Run* runs, const Payload& payload, size_t data) {
  const size_t size = size_of(record, data);
  transport::Staging staging;
  wait_until([&] {  // asked again when it has held
    if (staging.memory == nullptr) staging = peer.transport->reserve_staging(size);
    return staging.memory != nullptr;
  });
  (void)write(static_cast<char*>(staging.memory), record, runs, payload, data);
  const StagedFrame frame{frame_of(window, static_cast<uint32_t>(size)), staging.handle, world->rank, 0};
  bool sent = false;
  wait_until([&] {
    sent = sent || (!peer.queued.load(std::memory_order_acquire) &&
                    peer.endpoint->send_staged(wire::records_staged, {0, 0, 0, 0}, &frame, sizeof frame, staging,
                                               size) == transport::Post::done);
    return sent;
  });
}

namespace {

// Whether there was anything.
bool send_gathered() {
  bool sent = false;
  while (Outbox* const box = take_first()) {
    sent |= box->used != 0;
    box->send();
    box->lock.unlock();
  }
  return sent;
}

constinit const Flush gathered_records{"windows", send_gathered};
WEFT_FLUSH(gathered_records);

}  // namespace

Outbox& outbox_of(Window& window, int32_t rank) {
  Target& target = window.targets[rank];
  std::atomic_ref<Outbox*> outbox(target.outbox);
  Outbox* made = outbox.load(std::memory_order_acquire);
  if (made != nullptr) return *made;
  std::lock_guard guard(window.guard);
  made = outbox.load(std::memory_order_relaxed);
  if (made == nullptr) {
    made = new Outbox(window, rank);
    made->made_before = std::exchange(window.outboxes, made);
    outbox.store(made, std::memory_order_release);
  }
  return *made;
}

namespace {

void unlist(const Outbox* box) {
  std::lock_guard guard(list_lock);
  Outbox* before = nullptr;
  for (Outbox* o = gathered; o != nullptr; before = o, o = o->next) {
    if (o != box) continue;
    if (before != nullptr) before->next = box->next;
    if (before == nullptr) set_gathered(box->next);
    break;
  }
}

}  // namespace

void drop_outboxes(Window& window) {
  while (Outbox* const box = window.outboxes) {
    window.outboxes = box->made_before;
    unlist(box);
    box->lock.lock();  // another thread's progress may be sending the last of it
    box->lock.unlock();
    delete box;
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
  send_control(world->peer(window.comm->job_rank(rank)), 0, wire::records, &message, sizeof message);
}

}  // namespace weft::core::rma
