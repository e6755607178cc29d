// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/transfer.hpp"

#include <new>

#include "core/message/completion.hpp"
#include "core/object/failure.hpp"
#include "core/protocol/p2p.hpp"
#include "core/rma/outbox.hpp"
#include "core/rma/serve.hpp"

namespace weft::core::rma {
namespace {

// Below, pieces in frames take less time than to ask and be asked.
constexpr int64_t transfer_from = 64 << 10;

// The origin's side: ends when the message has left or come, and, of a put, the target has said that it is there.
struct Transfer : Awaited {
  Window* window;
  Target* target;
  Request* request;  // the caller's, or nullptr
  Type* type;        // to be given back, or nullptr
  std::atomic<int32_t> left;
};

void end_part(Transfer& transfer) {
  if (transfer.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  transfer.target->under_way.fetch_sub(1, std::memory_order_release);
  delete &transfer;
  tell_sleepers(nullptr);
}

bool on_arrived(Awaited& awaited, const Answer& /*answer*/, const char* /*data*/) {
  end_part(static_cast<Transfer&>(awaited));
  return true;
}

// The message has left, or come.
bool end_message(Request& message) {
  auto& transfer = *static_cast<Transfer*>(message.owner);
  const int32_t error = message.error;
  free_request(&message);
  if (error != no_error) {
    transfer.target->failed.store(error, std::memory_order_relaxed);
    if (transfer.request != nullptr) transfer.request->error = error;
  }
  if (transfer.type != nullptr) transfer.window->drop_type(transfer.type);
  if (transfer.request != nullptr) core::complete(*transfer.request);
  end_part(transfer);
  return false;
}

// A message of the caller's data, not started. nullptr: no memory.
Request* prepare_message(Window& window, const Local& data, int32_t rank, Role role, int32_t parts, Request* request) {
  Request* const message = new_request(*window.comm, role);
  auto* const transfer =
      message == nullptr ? nullptr
                         : new (std::nothrow)
                               Transfer{Awaited(on_arrived), &window, &window.targets[rank], request, nullptr, parts};
  if (transfer == nullptr) {
    if (message != nullptr) free_request(message);
    return nullptr;
  }
  if (!data.type->predefined && window.drop_type != nullptr) {
    ++data.type->references;
    transfer->type = data.type;
  }
  set_buffer(*message, data.buffer, data.count, *data.type);
  message->owner = transfer;
  message->on_done = end_message;
  transfer->target->under_way.fetch_add(1, std::memory_order_relaxed);
  return message;
}

Record record_of(Action action, const Remote& place, int64_t bytes, int32_t tag) {
  Record record{};
  record.action = action;
  record.offset = static_cast<uint64_t>(place.offset);
  record.bytes = static_cast<uint32_t>(bytes);
  record.position = static_cast<uint64_t>(tag);
  return record;
}

// The origin chooses the tag, and each rank counts for itself. So the data of a put of ours and those of a get of the
// target's, which both go to the target, have tags of two kinds. Views send on the communicator of their window.
int32_t new_tag(Window& window, Action action) {
  constexpr uint32_t of_gets = 0x40000000;
  Window& named = window.shows != nullptr ? *window.shows : window;
  const uint32_t count = named.next_tag.fetch_add(1, std::memory_order_relaxed) & (of_gets - 1);
  return static_cast<int32_t>(action == Action::give ? count | of_gets : count);
}

// ---- the target's side

struct Service {
  Window* window;
  int32_t origin;
  int32_t tag;
  char* memory;
  int64_t bytes;
  uint32_t lane;
  uint64_t cookie;
};

bool end_service(Request& message) {
  const Service service = *static_cast<Service*>(message.owner);
  delete static_cast<Service*>(message.owner);
  if (message.error != no_error) note_failed_copy(*service.window, service.origin);
  free_request(&message);
  if (service.cookie != 0) answer(*service.window, service.origin, service.lane, service.cookie);
  return false;
}

void describe(Request& message, const Service& service) {
  set_buffer(message, service.memory, service.bytes, datatype::byte_type);
  message.on_done = end_service;
}

bool begin_take(Request& message) {
  const Service& service = *static_cast<Service*>(message.owner);
  (void)core::prepare(&message, *service.window->comm, Role::receive);
  describe(message, service);
  start_lane_receive(message, service.window->comm->context, service.origin, service.tag);
  return false;
}

bool begin_give(Request& message) {
  const Service& service = *static_cast<Service*>(message.owner);
  (void)core::prepare(&message, *service.window->comm, Role::send);
  describe(message, service);
  start_send(message, service.window->comm->context, service.origin, service.tag);
  return false;
}

// A message is not started while a lane is held: that waits until it is not.
void begin_later(bool (*begin)(Request&), const Service& service) {
  Request* const message = new_request(*service.window->comm, Role::composite);
  auto* const kept = new (std::nothrow) Service(service);
  if (message == nullptr || kept == nullptr) {
    failed(FailureCause::memory, {.cause = "no memory to serve a window", .remedy = "free memory on this host"});
  }
  message->owner = kept;
  message->on_done = begin;
  core::complete(*message);
}

}  // namespace

bool is_transfer(const Window& window, const Remote& place, int64_t bytes) {
  return bytes >= transfer_from && bytes <= UINT32_MAX && place.type->contiguous && window.flavor != Flavor::dynamic;
}

int32_t transfer_put(Window& window, const Local& from, const Remote& to, Request* request) {
  constexpr int32_t parts = 2;
  Request* const message = prepare_message(window, from, to.rank, Role::send, parts, request);
  if (message == nullptr) return no_memory;
  const int32_t tag = new_tag(window, Action::take);
  Record record = record_of(Action::take, to, from.bytes, tag);
  LaneBox& box = box_of(window, to.rank);
  record.cookie = cookie_of(*static_cast<Transfer*>(message->owner), box.lane);
  // Not as a question: a frame that goes quickly may be lost, and would be repeated before the data behind it.
  box.add(record, Leave::now);
  start_send(*message, window.comm->context, to.rank, tag);
  return no_error;
}

int32_t transfer_get(Window& window, const Local& to, const Remote& from, Request* request) {
  constexpr int32_t parts = 1;
  Request* const message = prepare_message(window, to, from.rank, Role::receive, parts, request);
  if (message == nullptr) return no_memory;
  const int32_t tag = new_tag(window, Action::give);
  start_lane_receive(*message, window.comm->context, from.rank, tag);
  box_of(window, from.rank).add(record_of(Action::give, from, to.bytes, tag), Leave::now);
  return no_error;
}

void take_transfer(Window& window, int32_t origin, char* memory, int64_t bytes, int32_t tag, uint32_t lane,
                   uint64_t cookie) {
  begin_later(begin_take, {&window, origin, tag, memory, bytes, lane, cookie});
}

void give_transfer(Window& window, int32_t origin, char* memory, int64_t bytes, int32_t tag) {
  begin_later(begin_give, {&window, origin, tag, memory, bytes, 0, 0});
}

}  // namespace weft::core::rma
