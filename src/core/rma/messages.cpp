// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/messages.hpp"

#include <algorithm>
#include <new>

#include "base/copy.hpp"
#include "core/message/completion.hpp"
#include "core/progress/lane_wait.hpp"
#include "core/rma/outbox.hpp"
#include "core/rma/serve.hpp"
#include "datatype/pack.hpp"
#include "device/api/device.hpp"

namespace weft::core::rma {
namespace {

using memory::Pieces;

// How an operation is cut into records.
struct Cut {
  Record record;
  const Element* element;  // of updates: none is cut; nullptr: cut anywhere
  int64_t most;            // bytes of data in a record; the space in the box is a limit too
};

Record record_of(Action action) {
  Record record{};
  record.action = action;
  return record;
}

Record record_of(Action action, const Update& update) {
  Record record = record_of(action);
  record.reduction = static_cast<uint8_t>(update.reduction);
  record.element = static_cast<uint8_t>(update.element.basic);
  record.value = static_cast<uint8_t>(update.element.value);
  record.index = static_cast<uint8_t>(update.element.index);
  return record;
}

// The next part of an operation, from packed byte `position` on: fills in what the record says of it.
void next_part(Cut& cut, const LaneBox& box, const Remote& place, int64_t position, Pieces& pieces) {
  const int64_t left = place.count * place.type->size - position;
  // Where the data lie in several pieces, half the space is for the list of them.
  const auto room = static_cast<int64_t>(box.room());
  const bool whole = place.type->contiguous && (cut.element == nullptr || !cut.element->has_gaps());
  const int most = whole ? 1 : static_cast<int>(std::clamp<int64_t>(room / 2 / 16, 1, Pieces::most));
  int64_t bytes = std::min({left, cut.most, whole ? room - 8 : room - most * 16 - 8});
  if (cut.element != nullptr) {
    bytes = std::max<int64_t>(bytes - bytes % cut.element->size(), cut.element->size());
  }
  if (cut.element != nullptr && cut.element->has_gaps()) {
    collect_elements(place, *cut.element, position, bytes, most, pieces);
  } else {
    collect(place, position, bytes, most, pieces);
  }
  cut.record.offset = pieces.runs[0].offset;
  cut.record.position = static_cast<uint64_t>(position);
  cut.record.bytes = static_cast<uint32_t>(pieces.bytes);
  cut.record.runs = pieces.count == 1 ? 0 : static_cast<uint32_t>(pieces.count);
}

void send_parts(LaneBox& box, Cut cut, const Local& from, const Remote& to) {
  Pieces pieces;
  for (int64_t position = 0; position < from.bytes; position += pieces.bytes) {
    next_part(cut, box, to, position, pieces);
    box.add(cut.record, pieces.runs, {&from, position}, cut.record.bytes, Leave::later);
  }
}

// Data that come back in parts. Goes with the last of them.
struct Fetch : Awaited {
  Local to;
  Target* target;
  LaneBox* box;
  Request* request;
  void (*drop_type)(Type*);  // nullptr: the type need not be given back
  std::atomic<int64_t> came = 0;
  int64_t all;
  int32_t error = no_error;
};

// Once the request is complete the window may go.
void finish(Fetch& fetch) {
  if (fetch.request == nullptr && fetch.error != no_error) {
    fetch.target->failed.store(fetch.error, std::memory_order_relaxed);
  }
  fetch.box->settle(fetch.number);
  if (fetch.drop_type != nullptr) fetch.drop_type(fetch.to.type);
  if (fetch.request != nullptr) {
    fetch.request->error = fetch.error;
    core::complete(*fetch.request);
  }
  delete &fetch;
  tell_sleepers(nullptr);
}

bool take_part(Awaited& awaited, const Answer& answer, const char* data) {
  auto& fetch = static_cast<Fetch&>(awaited);
  if (answer.error != no_error) fetch.error = answer.error;
  const auto position = static_cast<int64_t>(answer.position);
  const int64_t left = fetch.all - fetch.came.load(std::memory_order_relaxed);
  if (position < 0 || position > fetch.all - answer.bytes || answer.bytes > left) refuse_frame();
  if (fetch.to.is_plain()) {
    base::copy(static_cast<char*>(fetch.to.buffer) + position, data, answer.bytes);
  } else {
    const Local& to = fetch.to;
    datatype::unpacking(to.on_device)(*to.type, to.count, to.buffer, position, data, answer.bytes);
    if (to.on_device && device::take_failure()) fetch.error = other_error;
  }
  if (fetch.came.fetch_add(answer.bytes, std::memory_order_relaxed) + answer.bytes == fetch.all) {
    finish(fetch);
    return true;
  }
  return false;
}

// Asks for all parts. `from` nullptr: they are read, not updated.
int32_t fetch_parts(Window& window, LaneBox& box, Cut cut, const Local* from, const Local& to, const Remote& place,
                    Request* request) {
  if (to.bytes <= 0) {
    if (request != nullptr) core::complete(*request);
    return no_error;
  }
  auto* fetch = new (std::nothrow)
      Fetch{Awaited(take_part), to, &window.targets[place.rank], &box, request, nullptr, 0, to.bytes};
  if (fetch == nullptr) return no_memory;
  if (!to.type->predefined && window.drop_type != nullptr) {
    ++to.type->references;
    fetch->drop_type = window.drop_type;
  }
  cut.record.cookie = cookie_of(*fetch, box.lane);
  // An answer fits into a message.
  cut.most = static_cast<int64_t>((frame_limit() - sizeof(Answer)) & ~size_t{7});
  Pieces pieces;
  for (int64_t position = 0; position < to.bytes; position += pieces.bytes) {
    // The target keeps its answers until there is space, so not all are asked for at once. The last part may end the
    // fetch.
    constexpr int64_t ahead = 512 << 10;
    if (position >= ahead) {
      wait_on(box.lane, [&] { return position - fetch->came.load(std::memory_order_relaxed) < ahead; });
    }
    next_part(cut, box, place, position, pieces);
    box.add(cut.record, pieces.runs, {from, position}, from == nullptr ? 0 : cut.record.bytes,
            position == 0 || position + pieces.bytes == to.bytes ? Leave::now : Leave::later);
  }
  return no_error;
}

}  // namespace

void send_put(Window& window, const Local& from, const Remote& to) {
  send_parts(box_of(window, to.rank), {record_of(Action::put), nullptr, from.bytes}, from, to);
}

void send_update(Window& window, const Update& update, const Local& from, const Remote& to) {
  const InOrder order(window, to.rank);
  send_parts(order.box, {record_of(Action::accumulate, update), &update.element, from.bytes}, from, to);
}

int32_t ask_for(Window& window, const Local& to, const Remote& from, Request* request) {
  return fetch_parts(window, box_of(window, from.rank), {record_of(Action::get), nullptr, 0}, nullptr, to, from,
                     request);
}

int32_t ask_for_update(Window& window, const Update& update, const Local& from, const Local& result, const Remote& to,
                       Request* request) {
  const bool sends = update.reduction != datatype::Reduction::no_op;
  const InOrder order(window, to.rank);
  return fetch_parts(window, order.box, {record_of(Action::get_accumulate, update), &update.element, 0},
                     sends ? &from : nullptr, result, to, request);
}

int32_t ask_to_swap(Window& window, const Element& element, const void* value, const void* compare, void* result,
                    const Remote& to) {
  const auto bytes = static_cast<size_t>(element.size());
  const InOrder order(window, to.rank);
  auto* fetch = new (std::nothrow) Fetch{
      Awaited(take_part),
      {result, element.size(), &datatype::byte_type, element.size(), !window.comm->host_memory && device::owns(result)},
      &window.targets[to.rank],
      &order.box,
      nullptr,
      nullptr,
      0,
      element.size()};
  if (fetch == nullptr) return no_memory;
  Record record = record_of(Action::compare);
  record.element = static_cast<uint8_t>(element.basic);
  record.offset = static_cast<uint64_t>(to.offset);
  record.bytes = static_cast<uint32_t>(bytes);
  record.cookie = cookie_of(*fetch, order.box.lane);
  char both[2 * memory::element_most];
  base::copy(both, value, bytes);
  base::copy(both + bytes, compare, bytes);
  order.box.add(record, nullptr, {nullptr, 0, both}, 2 * bytes, Leave::now);
  return no_error;
}

}  // namespace weft::core::rma
