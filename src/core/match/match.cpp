// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/match/match.hpp"

#include <new>
#include <unordered_map>

#include "core/object/failure.hpp"

namespace weft::core {

// The largest stamp of each source whose messages are kept, by context and source.
struct Matcher::Latest {
  std::unordered_map<uint64_t, uint64_t> stamps;
};

void Matcher::open() {
  bins_ = first_bins_;
  mask_ = (first_count - 1) * sizeof(Bin);
  passed_most_ = 16 * first_count;
}

void Matcher::close() {
  if (bins_ != first_bins_) std::free(bins_);
  bins_ = nullptr;
}

void Matcher::Bin::append(Unexpected* message) {
  message->next_in_bin = nullptr;
  message->previous_in_bin = unexpected_last;
  (unexpected_last == nullptr ? unexpected : unexpected_last->next_in_bin) = message;
  unexpected_last = message;
}

// Grows to a bin for each receive and message that the bins hold, up to most_count. Receives and messages of one
// envelope come from one bin and stay in order.
void Matcher::grow() {
  const uint32_t count = bins();
  uint64_t held = kept();
  for (uint32_t i = 0; i < count; ++i) {
    for (const Request* r = bins_[i].posted.first; r != nullptr; r = r->next) ++held;
  }
  passed_ = 0;
  passed_most_ = 16 * (uint64_t{count} + held);
  if (held <= count || count == most_count) return;
  uint32_t more = count;
  while (more < held && more < most_count) more *= 2;
  auto* const fresh = static_cast<Bin*>(std::calloc(more, sizeof(Bin)));
  if (fresh == nullptr) return;  // longer searches will do
  Bin* const old = bins_;
  bins_ = fresh;
  mask_ = (more - 1) * static_cast<uint32_t>(sizeof(Bin));
  for (uint32_t i = 0; i < count; ++i) {
    for (Request* r = old[i].posted.first; r != nullptr;) {
      Request* const next = r->next;
      bin_of(r->match).posted.append(r);
      r = next;
    }
    for (Unexpected* u = old[i].unexpected; u != nullptr;) {
      Unexpected* const next = u->next_in_bin;
      bin_of(u->envelope).append(u);
      u = next;
    }
    old[i] = {};
  }
  if (old != first_bins_) std::free(old);
}

Request* Matcher::search(RequestQueue*& queue, const Envelope& envelope, Request*& before) {
  if (passed_ > passed_most_) {
    grow();
    queue = &bin_of(envelope).posted;
  }
  Request* found = queue->first;
  for (; found != nullptr && !same(found->match, envelope); ++passed_) {
    before = found;
    found = found->next;
  }
  return found;
}

Matcher::Candidate Matcher::earliest(RequestQueue& queue, Request* before, Request* specific,
                                     const Envelope& envelope) {
  const Candidate named{specific, &queue, before};
  Candidate wild{nullptr, &wild_, nullptr};
  wild.receive = wild_.find(envelope, named.order(), wild.before);
  return wild.receive != nullptr ? wild : named;
}

Request* Matcher::take(const Candidate& candidate) {
  if (candidate.receive == nullptr) return nullptr;
  candidate.queue->unlink(candidate.before, candidate.receive);
  if (candidate.queue == &wild_) --wild_and_pending_;
  return candidate.receive;
}

Request* Matcher::take_earliest(const AnyTags& any_tags, RequestQueue& queue, Request* before, Request* specific,
                                const Envelope& envelope) {
  Request* const next = wild_.first;
  if (specific == nullptr && pending_ == 0 && next != nullptr && matches(next->match, envelope) &&
      !any_tags.may_match(envelope.context)) {
    wild_.unlink(nullptr, next);
    --wild_and_pending_;
    return next;
  }
  // A message behind a pending one of its source must not overtake it.
  if (pending_ != 0 && first_pending(envelope.context, envelope.source) != nullptr) {
    hold_next_ = true;
    return nullptr;
  }
  const Candidate first = earliest(queue, before, specific, envelope);
  if (any_tags.may_match(envelope.context) && any_tags.first_match(envelope, first.order()) != nullptr) {
    hold_next_ = true;
    return nullptr;
  }
  return take(first);
}

void Matcher::bring_forward(Request& receive) {
  RequestQueue& queue = bin_of(receive.match).posted;
  Request* before = nullptr;
  for (Request* r = queue.first; r != &receive; before = r, r = r->next) {
    if (r == nullptr) return;  // it was matched already
    if (!same(r->match, receive.match)) continue;
    // A thread that is inside MPI_Recv has posted nothing else. One with wildcards may lie between two orders.
    if (!r->flags.awaited || r->post_order != receive.post_order) return;
  }
  if (before == nullptr) return;
  queue.unlink(before, &receive);
  receive.next = queue.first;
  queue.first = &receive;
}

bool Matcher::withdraw(Request& receive) {
  if (!has_wildcard(receive.match)) return bin_of(receive.match).posted.remove(&receive);
  if (!wild_.remove(&receive)) return false;
  --wild_and_pending_;
  return true;
}

Unexpected* Matcher::first_pending() const {
  if (pending_ == 0) return nullptr;
  Unexpected* u = first_;
  while (!u->pending) u = u->next;
  return u;
}

Unexpected* Matcher::first_pending(uint32_t context, int32_t source) const {
  uint32_t left = pending_;
  for (Unexpected* u = first_; left != 0; u = u->next) {
    if (!u->pending) continue;
    if (u->envelope.context == context && u->envelope.source == source) return u;
    --left;
  }
  return nullptr;
}

Request* Matcher::settle(Unexpected* message, AnyTags& any_tags) {
  const Envelope& envelope = message->envelope;
  message->pending = false;
  --pending_;
  --wild_and_pending_;
  RequestQueue* queue = &bin_of(envelope).posted;
  Request* before = nullptr;
  Request* specific = search(queue, envelope, before);
  const Candidate first = earliest(*queue, before, specific, envelope);
  if (Request* wild = any_tags.first_match(envelope, first.order())) {
    (void)any_tags.remove(*wild);
    return wild;
  }
  return take(first);
}

Unexpected* Matcher::find(const Envelope& wanted) {
  if (has_wildcard(wanted)) {
    Unexpected* u = first_;
    while (u != nullptr && !matches(wanted, u->envelope)) u = u->next;
    return u;
  }
  if (passed_ > passed_most_) grow();
  Unexpected* u = bin_of(wanted).unexpected;
  for (; u != nullptr && !same(wanted, u->envelope); ++passed_) u = u->next_in_bin;
  return u;
}

Unexpected* Matcher::find_free(const Envelope& wanted) {
  Unexpected* u = find(wanted);
  while (u != nullptr && (u->pending || !matches(wanted, u->envelope))) u = u->next;
  return u;
}

void Matcher::hold(const Envelope& wanted) {
  for (Unexpected* u = first_; u != nullptr; u = u->next) {
    if (u->pending || !matches(wanted, u->envelope)) continue;
    u->pending = true;
    ++pending_;
    ++wild_and_pending_;
  }
}

// Two threads of a sender may reserve cells of this lane in another order than they took their stamps. Then both orders
// are right, for nothing orders the two, but choosing among lanes is simpler when a lane's first message of a source
// also has its smallest stamp: so a stamp counts as no less than those before it in the lane. A later send has a larger
// stamp still, since stamps are taken before cells are reserved.
void Matcher::raise_stamp(Envelope& envelope) {
  if (latest_ == nullptr) latest_ = new (std::nothrow) Latest;
  if (latest_ == nullptr)
    failed(FailureCause::memory,
           {.cause = "no memory to keep a message that came before its receive", .remedy = "free memory on this host"});
  const uint64_t key = uint64_t{envelope.context} << 32 | static_cast<uint32_t>(envelope.source);
  auto [entry, fresh] = latest_->stamps.try_emplace(key, envelope.stamp);
  if (fresh) return;
  if (is_before(envelope.stamp, entry->second)) {
    envelope.stamp = entry->second;
  } else {
    entry->second = envelope.stamp;
  }
}

void Matcher::add(Unexpected* message) {
  if (several_) raise_stamp(message->envelope);
  message->pending = hold_next_;
  unsettled_ = unsettled_ || hold_next_;
  pending_ += hold_next_ ? 1 : 0;
  wild_and_pending_ += hold_next_ ? 1 : 0;
  hold_next_ = false;
  bin_of(message->envelope).append(message);
  message->next = nullptr;
  message->previous = last_;
  (last_ == nullptr ? first_ : last_->next) = message;
  last_ = message;
  busy_.store(busy_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Matcher::remove(Unexpected* message) {
  if (message->pending) [[unlikely]] {  // it was recalled, or its sender is lost
    --pending_;
    --wild_and_pending_;
  }
  Bin& bin = bin_of(message->envelope);
  Unexpected* before = message->previous_in_bin;
  Unexpected* behind = message->next_in_bin;
  (before == nullptr ? bin.unexpected : before->next_in_bin) = behind;
  (behind == nullptr ? bin.unexpected_last : behind->previous_in_bin) = before;
  (message->previous == nullptr ? first_ : message->previous->next) = message->next;
  (message->next == nullptr ? last_ : message->next->previous) = message->previous;
  busy_.store(busy_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  if (first_ == nullptr && latest_ != nullptr) {  // stamps are only compared among kept messages
    delete latest_;
    latest_ = nullptr;
  }
}

}  // namespace weft::core
