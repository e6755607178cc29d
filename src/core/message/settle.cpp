// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/message/settle.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/message/handler.hpp"
#include "core/message/unexpected.hpp"
#include "core/peer/peer.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {

namespace {

void drain_all() {
  for (transport::Transport* t : peers->transports.all()) {
    if (!t->capabilities().drains) continue;
    for (uint32_t i = 0; i < lanes->map.lanes(); ++i) t->drain(i, on_arrival);
  }
}

// The source and context of a message.
struct MessageOrigin {
  uint32_t context;
  int32_t source;
  bool operator==(const MessageOrigin&) const = default;
};
using Origins = std::vector<MessageOrigin>;

MessageOrigin origin_of(const Unexpected& message) {
  return {message.envelope.context, message.envelope.source};
}
bool contains(const Origins& origins, const Unexpected& message) {
  return std::find(origins.begin(), origins.end(), origin_of(message)) != origins.end();
}

// The first message that matches, is not pending, and is of none of these.
Unexpected* find_free(Matcher& matcher, const Envelope& wanted, const Origins& but) {
  Unexpected* u = matcher.find_free(wanted);
  while (u != nullptr && (u->pending || !matches(wanted, u->envelope) || contains(but, *u))) u = u->next;
  return u;
}

// Finds a kept message that matches, of any source and context but these: the one with the smallest stamp of its
// source. A lane's first message of a source has its smallest stamp there: see Matcher::raise_stamp().
Unexpected* best_kept(const Envelope& wanted, const Origins& but) {
  static std::atomic<uint32_t> turn = 0;  // where to begin, so that no lane is favoured
  const uint32_t mask = lanes->map.mask;
  const uint32_t start = mask == 0 ? 0 : turn.fetch_add(1, std::memory_order_relaxed);
  Envelope narrowed = wanted;
  Unexpected* best = nullptr;
  for (uint32_t i = 0; i <= mask; ++i) {
    Unexpected* u = find_free(lanes->all[(start + i) & mask].matcher, narrowed, but);
    if (u == nullptr) continue;
    if (best == nullptr) {
      best = u;
      narrowed.source = u->envelope.source;
    } else if (is_before(u->envelope.stamp, best->envelope.stamp)) {
      best = u;
    }
  }
  return best;
}

// Finds the pending message with the smallest stamp of one source on one communicator.
Unexpected* first_pending(const Envelope& of) {
  Unexpected* first = nullptr;
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
    Unexpected* u = lanes->all[i].matcher.first_pending(of.context, of.source);
    if (u != nullptr && (first == nullptr || is_before(u->envelope.stamp, first->envelope.stamp))) first = u;
  }
  return first;
}

// A pending message of any source but these.
Unexpected* any_pending(const Origins& but) {
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
    const Matcher& matcher = lanes->all[i].matcher;
    if (!matcher.any_pending()) continue;
    for (Unexpected* u = matcher.first_pending(); u != nullptr; u = u->next) {
      if (u->pending && !contains(but, *u)) return u;
    }
  }
  return nullptr;
}

// A pending message of any source that nothing sent before it is missing of; nullptr when there is none. `missing`: the
// sources of which something is still under way.
Unexpected* next_pending(Origins& missing) {
  while (Unexpected* first = any_pending(missing)) {
    first = first_pending(first->envelope);
    for (;;) {
      drain_all();
      Unexpected* again = first_pending(first->envelope);
      if (again == first) break;
      first = again;
    }
    // Order matters to receives with MPI_ANY_TAG alone.
    if (lanes->any_tags.first_match(first->envelope, UINT64_MAX) == nullptr || lanes->watches.is_next(*first))
      return first;
    missing.push_back(origin_of(*first));
  }
  return nullptr;
}

// Messages under way arrive, and pending ones go to the receives posted first.
void settle_pending() {
  Origins missing;
  while (Unexpected* message = next_pending(missing)) {
    Matcher& matcher = lanes->all[message->envelope.lane].matcher;
    Request* r = matcher.settle(message, lanes->any_tags);
    if (r == nullptr) continue;
    if (lanes->is_across(r->match)) missing.clear();  // messages kept for this receive may go on
    matcher.remove(message);
    consume(*r, message);
  }
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) lanes->all[i].matcher.set_unsettled(false);
}

}  // namespace

Unexpected* choose(const Envelope& wanted) {
  // Messages sent before it may lie unread in another lane. A look at all rings, begun now that we have read it, finds
  // that; and what it finds may have been preceded by more. Meanwhile more may have come for receives posted before.
  Origins missing;
  while (Unexpected* best = best_kept(wanted, missing)) {
    for (Envelope narrowed = wanted; best != nullptr;) {
      narrowed.source = best->envelope.source;
      drain_all();
      settle_pending();
      Unexpected* again = best_kept(narrowed, missing);
      if (again == best) break;
      best = again;
    }
    if (best == nullptr) continue;
    if (lanes->watches.is_next(*best)) return best;
    missing.push_back(origin_of(*best));
  }
  return nullptr;
}

void settle_all() {
  if (!lanes->map.parts()) return;
  count(lanes->all[0].settlements);
  drain_all();
  settle_pending();
}

void post_across(Request& r) {
  uint64_t order = 0;
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) order = std::max(order, lanes->all[i].matcher.order());
  ++order;
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) lanes->all[i].matcher.advance(order);
  lanes->any_tags.post(r, order);
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) lanes->all[i].matcher.hold(r.match);
}

void settle() {
  AllLanesGuard all;
  settle_all();
}

}  // namespace weft::core
