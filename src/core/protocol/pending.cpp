// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/protocol/pending.hpp"

#include <cstring>
#include <mutex>
#include <vector>

#include "core/lane/lane.hpp"
#include "core/message/send_queue.hpp"
#include "core/message/settle.hpp"
#include "core/message/unexpected.hpp"
#include "core/object/comm.hpp"
#include "core/peer/request_number.hpp"
#include "core/protocol/protocol.hpp"
#include "core/protocol/wire.hpp"

namespace weft::core {

namespace {

bool is_under_way(const Request& r) {
  return !is_done(r) && (r.flags.active || !r.flags.persistent);
}

bool is_send_to(const Request& r, const Peer& peer) {
  return r.role == Role::send && r.peer == &peer && is_under_way(r);
}

bool is_receive_from(const Request& r, const Peer& peer) {
  return r.role == Role::receive && is_under_way(r) && r.match.source >= 0 && r.match.source < r.comm->size &&
         r.comm->job_rank(r.match.source) == peer.rank;
}

struct Found {
  const Peer& peer;
  std::vector<Request*> sends;
  std::vector<Request*> receives;
};

Found find_requests(const Peer& peer) {
  Found found{peer, {}, {}};
  (void)any_request(
      [](const Request& r, const void* about) {
        Found& in = *static_cast<Found*>(const_cast<void*>(about));
        if (is_send_to(r, in.peer)) in.sends.push_back(const_cast<Request*>(&r));
        if (is_receive_from(r, in.peer)) in.receives.push_back(const_cast<Request*>(&r));
        return false;
      },
      &found);
  return found;
}

void forget_stream(Lane& lane, const Request& send) {
  for (Request** at = &lane.streams; *at != nullptr; at = &(*at)->next) {
    if (*at != &send) continue;
    *at = send.next;
    return;
  }
}

// The data behind an RTS of the peer will not come.
void forget_announced(Lane& lane, const Peer& peer) {
  for (Unexpected* u = lane.matcher.first_unexpected(); u != nullptr;) {
    Unexpected* const next = u->next;
    wire::Rts rts{};
    if (u->kind == wire::rts) std::memcpy(&rts, u->data(), sizeof rts);
    if (u->kind == wire::rts && rts.origin == peer.rank) {
      lane.matcher.remove(u);
      free_unexpected(u);
    }
    u = next;
  }
}

bool withdraw(Request& r) {
  if (lanes->is_across(r.match)) return lanes->any_tags.remove(r);
  return lanes->of(r.match).matcher.withdraw(r);
}

}  // namespace

PendingWith pending_with(Peer& peer) {
  AllLanesGuard all;
  const Found found = find_requests(peer);
  PendingWith pending{.sends = static_cast<int64_t>(found.sends.size()),
                      .receives = static_cast<int64_t>(found.receives.size()),
                      .queued = count_waiting(peer)};
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
    pending.streams_in += count_streams_in(lanes->all[i], peer);
    pending.copies_in +=
        count_shares(lanes->all[i], peer) + count_readings(lanes->all[i], peer) + count_loadings(lanes->all[i], peer);
  }
  return pending;
}

void end_lost(Request& r, int32_t error) {
  r.error = error;
  if (r.role == Role::receive) {
    r.source = r.match.source;
    r.tag = r.match.tag;
    r.received = 0;
  }
  complete(r);
}

int64_t end_pending(Peer& peer, int32_t error) {
  std::vector<Request*> ended;
  {
    AllLanesGuard all;
    peer.lost.store(error, std::memory_order_relaxed);
    drop_waiting(peer);
    for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
      end_streams_in(lanes->all[i], peer, ended);
      end_shares(lanes->all[i], peer, ended);
      end_readings(lanes->all[i], peer, ended);
      end_loadings(lanes->all[i], peer, ended);
      forget_announced(lanes->all[i], peer);
    }
    const Found found = find_requests(peer);
    for (Request* r : found.sends) {
      Lane& home = lanes->all[r->lane];
      drop_push(home, *r);
      forget_stream(home, *r);
      deregister(*r);
      take_number(*r);
      home.count_sends(-1);
      ended.push_back(r);
    }
    for (Request* r : found.receives) {
      if (withdraw(*r)) ended.push_back(r);  // otherwise its message is coming in
    }
    settle_all();  // messages kept for these, and those whose predecessors do not come any more
  }
  for (Request* r : ended) end_lost(*r, error);
  return static_cast<int64_t>(ended.size());
}

}  // namespace weft::core
