// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Matching: posted receives and unexpected messages of a lane.
//
// Receives that name source and tag lie in bins by (context, source, tag); those with a wildcard in one list. Both
// carry their posting order, so that an arriving message takes the receive posted first among all that match.
// Unexpected messages lie in the same bins and, for receives with wildcards, in one list in order of arrival, which is
// the order of sending for each source. See docs/matching.md.

#include <cstddef>
#include <cstdint>

#include "core/request.hpp"

namespace weft::core {

inline bool matches(const Envelope& wanted, const Envelope& message) {
  return wanted.context == message.context && (wanted.source == any_source || wanted.source == message.source) &&
         (wanted.tag == any_tag || wanted.tag == message.tag);
}

inline bool same(const Envelope& a, const Envelope& b) {
  uint64_t from_a;  // context and source in one comparison
  uint64_t from_b;
  static_assert(offsetof(Envelope, source) == 4);
  __builtin_memcpy(&from_a, &a, sizeof from_a);
  __builtin_memcpy(&from_b, &b, sizeof from_b);
  return from_a == from_b && a.tag == b.tag;
}

inline bool has_wildcard(const Envelope& wanted) {
  return wanted.source == any_source || wanted.tag == any_tag;
}

// A message that came before its receive: exactly what is needed of it, right behind this header.
struct Unexpected {
  Unexpected* next_in_bin;
  Unexpected* previous_in_bin;
  Unexpected* previous;  // in order of arrival
  Unexpected* next;
  Envelope envelope;
  uint8_t kind;
  uint64_t stored;         // bytes behind this header
  int64_t message_bytes;   // size of the message, which a probe reports
  void* inflow = nullptr;  // the stream that still fills it

  unsigned char* data() { return reinterpret_cast<unsigned char*>(this + 1); }
};

class Matcher {
 public:
  // The receive that this message belongs to, taken out of its list; nullptr when there is none.
  Request* take_receive(const Envelope& envelope) {
    Queue& queue = bins_[bin_of(envelope)].posted;
    Request* before = nullptr;
    Request* found = queue.first;
    while (found != nullptr && !same(found->match, envelope)) {
      before = found;
      found = found->next;
    }
    if (wild_.first != nullptr) [[unlikely]]
      return take_with_wildcards(queue, before, found, envelope);
    if (found != nullptr) queue.unlink(before, found);
    return found;
  }

  void post(Request& receive) {
    receive.next = nullptr;
    receive.post_order = ++posted_;
    Queue& queue = has_wildcard(receive.match) ? wild_ : bins_[bin_of(receive.match)].posted;
    queue.append(&receive);
  }

  // Takes a posted receive back; false when it was matched already.
  bool withdraw(Request& receive);

  bool anything_unexpected() const { return first_ != nullptr; }

  // The first message that matches, left where it is; nullptr when there is none.
  Unexpected* find(const Envelope& wanted) const;

  void add(Unexpected* message);
  void remove(Unexpected* message);

  // Visits all unexpected messages in order of arrival.
  Unexpected* first_unexpected() const { return first_; }

 private:
  static constexpr uint32_t bin_count = 256;

  struct Queue {
    Request* first = nullptr;
    Request* last = nullptr;

    void append(Request* item) {
      (first == nullptr ? first : last->next) = item;
      last = item;
    }
    void unlink(Request* before, Request* item) {
      (before == nullptr ? first : before->next) = item->next;
      if (last == item) last = before;
    }
  };

  struct Bin {
    Queue posted;
    Unexpected* unexpected = nullptr;
    Unexpected* unexpected_last = nullptr;
  };

  static uint32_t bin_of(const Envelope& e) {
    uint32_t mixed = e.context * 0x9e3779b1u + static_cast<uint32_t>(e.source) * 0x85ebca6bu +
                     static_cast<uint32_t>(e.tag) * 0xc2b2ae35u;
    return mixed >> 24;
  }
  static_assert(bin_count == 256, "bin_of takes the top eight bits");

  Request* take_with_wildcards(Queue& queue, Request* before, Request* specific, const Envelope& envelope);

  Bin bins_[bin_count];
  Queue wild_;
  uint64_t posted_ = 0;
  Unexpected* first_ = nullptr;
  Unexpected* last_ = nullptr;
};

}  // namespace weft::core
