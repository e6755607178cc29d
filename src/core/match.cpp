// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/match.hpp"

namespace weft::core {

Request* Matcher::take_with_wildcards(Queue& queue, Request* before, Request* specific, const Envelope& envelope) {
  Request* before_wild = nullptr;
  Request* wild = wild_.first;
  while (wild != nullptr && !matches(wild->match, envelope)) {
    before_wild = wild;
    wild = wild->next;
  }
  if (wild != nullptr && (specific == nullptr || wild->post_order < specific->post_order)) {
    wild_.unlink(before_wild, wild);
    return wild;
  }
  if (specific != nullptr) queue.unlink(before, specific);
  return specific;
}

bool Matcher::withdraw(Request& receive) {
  Queue& queue = has_wildcard(receive.match) ? wild_ : bins_[bin_of(receive.match)].posted;
  Request* before = nullptr;
  for (Request* r = queue.first; r != nullptr; before = r, r = r->next) {
    if (r != &receive) continue;
    queue.unlink(before, r);
    return true;
  }
  return false;
}

Unexpected* Matcher::find(const Envelope& wanted) const {
  if (has_wildcard(wanted)) {
    Unexpected* u = first_;
    while (u != nullptr && !matches(wanted, u->envelope)) u = u->next;
    return u;
  }
  Unexpected* u = bins_[bin_of(wanted)].unexpected;
  while (u != nullptr && !same(wanted, u->envelope)) u = u->next_in_bin;
  return u;
}

void Matcher::add(Unexpected* message) {
  Bin& bin = bins_[bin_of(message->envelope)];
  message->next_in_bin = nullptr;
  message->previous_in_bin = bin.unexpected_last;
  (bin.unexpected_last == nullptr ? bin.unexpected : bin.unexpected_last->next_in_bin) = message;
  bin.unexpected_last = message;
  message->next = nullptr;
  message->previous = last_;
  (last_ == nullptr ? first_ : last_->next) = message;
  last_ = message;
}

void Matcher::remove(Unexpected* message) {
  Bin& bin = bins_[bin_of(message->envelope)];
  Unexpected* before = message->previous_in_bin;
  Unexpected* behind = message->next_in_bin;
  (before == nullptr ? bin.unexpected : before->next_in_bin) = behind;
  (behind == nullptr ? bin.unexpected_last : behind->previous_in_bin) = before;
  (message->previous == nullptr ? first_ : message->previous->next) = message->next;
  (message->next == nullptr ? last_ : message->next->previous) = message->previous;
}

}  // namespace weft::core
