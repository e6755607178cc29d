// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// E1 where the transport takes messages from where they lie: the data follow their envelope straight into the receive,
// or into memory of their own when there is none yet. A receive matched meanwhile gets them when they are all here.
//
//   pushed  sender to receiver: the data, which follow
#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/lane/lane.hpp"
#include "core/object/event.hpp"
#include "core/object/failure.hpp"
#include "core/protocol/protocol.hpp"

namespace weft::core {

// A pushed message whose data are coming in. At first it has a receive or a message, later perhaps both.
struct Landing : transport::Read {
  Landing* next = nullptr;
  Request* receive = nullptr;
  Unexpected* message = nullptr;
  void* aside = nullptr;  // where the data go for a receive with gaps
  Envelope envelope{};
  int64_t bytes = 0;
};

namespace {

[[noreturn]] void no_memory_for(int64_t bytes) {
  failed(FailureCause::memory,
         {.cause = "no memory for a message of " + std::to_string(bytes) + " bytes that is coming in",
          .remedy = "free memory on this host"});
}

void on_left(void* whose) {
  complete_send(*static_cast<Request*>(whose), Path::buffer);
}

Landing& new_landing(Lane& lane, void (*over)(transport::Read&, int), const Envelope& envelope, int64_t bytes) {
  Landing* landing = lane.free_landings;
  if (landing != nullptr) {
    lane.free_landings = landing->next;
  } else {
    landing = new (std::nothrow) Landing;
    if (landing == nullptr) no_memory_for(bytes);
  }
  *landing = {{over}, lane.landings, nullptr, nullptr, nullptr, envelope, bytes};
  lane.landings = landing;
  return *landing;
}

// Its former contents; it may be used again.
Landing end_landing(Lane& lane, Landing& landing) {
  Landing** at = &lane.landings;  // one from each peer at most
  while (*at != &landing) at = &(*at)->next;
  *at = landing.next;
  const Landing over = landing;
  landing.next = lane.free_landings;
  lane.free_landings = &landing;
  return over;
}

void on_landed(transport::Read& read, int) {
  auto& landing = static_cast<Landing&>(read);
  const Landing over = end_landing(lanes->all[landing.envelope.lane], landing);
  if (over.message != nullptr) {
    over.message->kind = wire::eager;  // from here on like any message that came whole
    over.message->inflow = nullptr;
    if (over.receive != nullptr) consume(*over.receive, over.message);
    return;
  }
  if (over.aside != nullptr) {
    store(*over.receive, 0, over.aside, over.bytes);
    std::free(over.aside);
  }
  finish_receive(*over.receive, over.envelope, over.bytes);
}

}  // namespace

bool push(Request& r, bool* refused) {
  *refused = false;
  switch (r.peer->endpoint->push(wire::pushed, r.match, r.buffer, static_cast<size_t>(r.bytes), {on_left, &r})) {
    case transport::Post::done:
      complete_send(r, Path::buffer);
      return true;
    case transport::Post::posted:
      return true;
    case transport::Post::retry:
    case transport::Post::lost:
      return false;
    case transport::Post::unsupported:
      *refused = true;
      return false;
  }
  return false;
}

namespace {

void on_pushed(const transport::Arrival& a) {
  Lane& lane = lane_of(a);
  const int64_t bytes = a.bytes;
  Landing& landing = new_landing(lane, on_landed, a.envelope, bytes);
  Request* r = match(a);
  if (r == nullptr) {
    Unexpected* u = new_unexpected(a.envelope, wire::pushed, bytes, bytes);
    landing.message = u;
    u->inflow = &landing;
    transport::destination_of(a) = {u->data(), a.bytes, &landing};
    list_unexpected(lane, u);
    return;
  }
  landing.receive = r;
  if (r->layout == nullptr) {
    transport::destination_of(a) = {r->buffer, static_cast<size_t>(std::min(bytes, r->bytes)), &landing};
    return;
  }
  landing.aside = std::malloc(a.bytes);
  if (landing.aside == nullptr) no_memory_for(bytes);
  transport::destination_of(a) = {landing.aside, a.bytes, &landing};
}

bool consume_landing(Request& r, Unexpected& message) {
  static_cast<Landing*>(message.inflow)->receive = &r;
  return true;
}

constinit const Handler pushed_handler{.kind = wire::pushed,
                                       .least_bytes = 0,
                                       .name = "E1 pushed",
                                       .take = on_pushed,
                                       .consume = consume_landing,
                                       .pushed = true};
WEFT_HANDLER(pushed_handler);

// The network moves the data: there is nothing to advance.
void free_landings(Lane& lane) {
  for (Landing** list : {&lane.landings, &lane.free_landings}) {
    while (Landing* landing = *list) {
      *list = landing->next;
      delete landing;
    }
  }
}

constinit const ProgressHook landing_work{"E1 pushed", [](Lane&) { return false; }, [](const Lane&) { return false; },
                                          free_landings};
WEFT_PROGRESS_HOOK(landing_work);

}  // namespace

}  // namespace weft::core
