// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Taking operations back (MPI_Cancel). A posted receive leaves matching, a queued send its queue. A send that has left
// and is not matched lies at its receiver as an unexpected RTS or synchronous message: it is recalled.
//
//   recall    sender to receiver: forget this send
//   recalled  receiver to sender: whether it was forgotten; if not, it was matched, and completes as usual
//   unsent    sender to receiver: a send that had a number left the queue; the number comes without it
#include <cstring>

#include "core/lane/lane.hpp"
#include "core/message/settle.hpp"
#include "core/protocol/p2p.hpp"
#include "core/protocol/protocol.hpp"

namespace weft::core {

namespace {

void cancel_receive(Request& r) {
  if (lanes->is_across(r.match)) {
    AllLanesGuard all;
    settle_all();
    if (lanes->any_tags.remove(r)) complete_cancelled(r);
    settle_all();  // messages that were kept for it
    return;
  }
  Lane& lane = lanes->of(r.match);
  LaneGuard guard(lane);
  if (!is_done(r) && lane.matcher.withdraw(r)) complete_cancelled(r);
}

bool is_numbered(const Request& r) {
  return r.peer->counts && r.match.stamp != 0;
}

// The end of a send that its receiver will not see.
void end_send(Request& r) {
  take_number(r);
  drop_push(lanes->all[r.lane], r);
  deregister(r);
  lanes->all[r.lane].count_sends(-1);
  complete_cancelled(r);
}

}  // namespace

void send_unsent(const Request& r) {
  if (is_numbered(r)) send_or_queue(*r.peer, r.match, wire::unsent, nullptr, 0);
}

bool try_unsent(const Request& r) {
  return !is_numbered(r) || r.peer->endpoint->send(wire::unsent, r.match, nullptr, 0) != transport::Post::retry;
}

void cancel(Request& r) {
  if (is_done(r)) return;
  if (r.role == Role::receive) return cancel_receive(r);
  if (r.role != Role::send || r.peer == nullptr) return;
  LaneGuard guard(lanes->all[r.lane]);
  if (is_done(r) || r.flags.cancelled) return;
  if (unqueue(r)) {
    send_unsent(r);
    return end_send(r);
  }
  if (stage_of(r) != NumberStage::asked) return;  // it was matched, or leaves nothing that could be recalled
  const wire::Recall recall{number_of(r), r.peer->our_rank, r.lane};
  send_control(*r.peer, r.match.lane, wire::recall, &recall, sizeof recall);
}

namespace {

// Whether an unexpected message is the one that this send left.
bool comes_from(Unexpected& u, const wire::Recall& recall) {
  if (u.kind == wire::rts) {
    wire::Rts rts;
    std::memcpy(&rts, u.data(), sizeof rts);
    return rts.send == recall.send && rts.origin == recall.origin;
  }
  if (u.kind == wire::eager_sync) {
    wire::Sync sync;
    std::memcpy(&sync, u.data(), sizeof sync);
    return sync.send == recall.send && sync.origin == recall.origin;
  }
  return false;
}

void on_recall(const transport::Arrival& a) {
  const auto recall = payload_of<wire::Recall>(a);
  Peer& peer = sender_of(a, recall.origin, recall.lane);
  Matcher& matcher = lane_of(a).matcher;
  Unexpected* u = matcher.first_unexpected();
  while (u != nullptr && !comes_from(*u, recall)) u = u->next;
  if (u != nullptr) {
    matcher.remove(u);
    free_unexpected(u);
  }
  const wire::Recalled recalled{recall.send, u != nullptr ? 1u : 0u, 0};
  send_control(peer, recall.lane, wire::recalled, &recalled, sizeof recalled);
}

constinit const Handler recall_handler{
    .kind = wire::recall, .least_bytes = sizeof(wire::Recall), .name = "recall", .take = on_recall};
WEFT_HANDLER(recall_handler);

void on_recalled(const transport::Arrival& a) {
  const auto recalled = payload_of<wire::Recalled>(a);
  if (recalled.done == 0) return;
  if (Request* r = answered(a, recalled.send)) end_send(*r);
}

constinit const Handler recalled_handler{
    .kind = wire::recalled, .least_bytes = sizeof(wire::Recalled), .name = "recalled", .take = on_recalled};
WEFT_HANDLER(recalled_handler);

// It was counted when it came.
void on_unsent(const transport::Arrival&) {}

constinit const Handler unsent_handler{.kind = wire::unsent, .least_bytes = 0, .name = "unsent", .take = on_unsent};
WEFT_HANDLER(unsent_handler);

}  // namespace

}  // namespace weft::core
