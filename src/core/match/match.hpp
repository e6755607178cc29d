// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Matching: posted receives and unexpected messages of a lane, and the receives with MPI_ANY_TAG of the whole process.
//
// Receives that name source and tag lie in bins of their lane by (context, source, tag); those with a wildcard in one
// list of the lane, or of the process where their messages may come by any lane. Unexpected messages lie in the bins
// and, for receives with wildcards, in one list of the lane in order of arrival. Bins become more when searches in them
// have been long. docs/design/matching.md has the rules, and why they hold with several lanes.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/object/request.hpp"

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

// Whether stamp `a` was given before `b`: they count modulo 2^stamp_bits.
inline bool is_before(uint64_t a, uint64_t b) {
  constexpr int unused = 64 - transport::stamp_bits;
  return static_cast<int64_t>((a - b) << unused) < 0;
}

// A message that came before its receive: exactly what is needed of it, right behind this header.
struct Unexpected {
  Unexpected* next_in_bin;
  Unexpected* previous_in_bin;
  Unexpected* previous;  // in order of arrival
  Unexpected* next;
  Envelope envelope;
  uint8_t kind;
  bool pending = false;  // it matches a posted receive, but which one only all lanes together can tell
  bool pooled = false;   // it has memory for pooled_bytes
  int32_t numbered_by = transport::no_peer;  // its sender, when its stamp is a number (core/lane/sequence_numbers.hpp)
  uint64_t stored;                           // bytes behind this header
  int64_t message_bytes;                     // size of the message, which a probe reports
  void* inflow = nullptr;                    // the stream that still fills it

  unsigned char* data() { return reinterpret_cast<unsigned char*>(this + 1); }
};
static_assert(sizeof(Unexpected) == 88);  // docs/design/matching.md

struct RequestQueue {
  Request* first = nullptr;
  Request* last = nullptr;

  void append(Request* item) {
    item->next = nullptr;
    (first == nullptr ? first : last->next) = item;
    last = item;
  }
  void unlink(Request* before, Request* item) {
    (before == nullptr ? first : before->next) = item->next;
    if (last == item) last = before;
  }
  // Receives in order of posting: the first that matches, at most of this order; the one before it there.
  Request* find(const Envelope& message, uint64_t order, Request*& before) const {
    Request* r = first;
    for (; r != nullptr && r->post_order <= order && !matches(r->match, message); r = r->next) before = r;
    return r != nullptr && r->post_order <= order ? r : nullptr;
  }
  // False when it is not in the queue.
  bool remove(Request* item) {
    Request* before = nullptr;
    for (Request* r = first; r != nullptr; before = r, r = r->next) {
      if (r != item) continue;
      unlink(before, r);
      return true;
    }
    return false;
  }
};

// The posted receives whose messages may come by any lane, in order of posting. Changed under all lanes' locks, read
// under any.
class AnyTags {
 public:
  // Whether one may be posted on this context. Any thread may ask; the answer holds while the caller holds a lane.
  bool may_match(uint32_t context) const { return posted_[slot_of(context)].load(std::memory_order_relaxed) != 0; }

  // `order`: beyond that of all receives posted before.
  void post(Request& r, uint64_t order) {
    r.post_order = order;
    queue_.append(&r);
    count(r, 1);
  }

  // The first that matches, at most of this order; nullptr when there is none.
  Request* first_match(const Envelope& message, uint64_t order) const {
    Request* before = nullptr;
    return queue_.find(message, order, before);
  }

  // False when it is not posted any more.
  bool remove(Request& r) {
    if (!queue_.remove(&r)) return false;
    count(r, -1);
    return true;
  }

 private:
  static constexpr uint32_t slots = 64;
  static uint32_t slot_of(uint32_t context) { return (context >> 1) % slots; }
  void count(const Request& r, int32_t change) {
    std::atomic<uint32_t>& posted = posted_[slot_of(r.match.context)];
    posted.store(posted.load(std::memory_order_relaxed) + static_cast<uint32_t>(change), std::memory_order_relaxed);
  }

  RequestQueue queue_;
  std::atomic<uint32_t> posted_[slots]{};
};

// The tables of one lane. All under the lane's lock, but for busy().
class Matcher {
 public:
  // Before anything else, and behind all else.
  void open();
  void close();

  // The receive that this message belongs to, taken out of its list; nullptr when there is none, and when that is not
  // to be said from one lane alone: add() then notes the message as pending.
  Request* take_receive(const Envelope& envelope, const AnyTags& any_tags) {
    RequestQueue* queue = &bin_of(envelope).posted;
    Request* before = nullptr;
    Request* found = queue->first;
    if (found != nullptr && !same(found->match, envelope)) [[unlikely]]
      found = search(queue, envelope, before);
    if (any_tags.may_match(envelope.context) || wild_and_pending_ != 0) [[unlikely]]
      return take_earliest(any_tags, *queue, before, found, envelope);
    if (found != nullptr) queue->unlink(before, found);
    return found;
  }

  // Posts a receive that names source and tag.
  void post(Request& receive) {
    receive.post_order = order_;
    bin_of(receive.match).posted.append(&receive);
  }
  // Posts one with wildcards whose messages come by this lane.
  void post_wild(Request& receive) {
    receive.post_order = ++order_;
    wild_.append(&receive);
    ++wild_and_pending_;
  }

  void post_either(Request& receive) {
    if (has_wildcard(receive.match)) {
      post_wild(receive);
    } else {
      post(receive);
    }
  }

  // The order of the last receive with wildcards. A receive without any has that of the last one posted before it, so
  // of two of the same order the one with wildcards came first. One for all lanes is posted with all lanes held, and is
  // beyond them all afterwards.
  uint64_t order() const { return order_; }
  void advance(uint64_t order) { order_ = order; }

  // Puts a receive of MPI_Recv before equal ones that other threads posted at the same time, as no rule orders them
  // (MPI-5.0, 3.5): the next message is this one's, rather than that of a thread that may have no core. It does nothing
  // where another receive comes first.
  void bring_forward(Request& receive);

  // Takes a posted receive of this lane back; false when it was matched already.
  bool withdraw(Request& receive);

  // Whether a receive must look twice: there are unexpected messages, or other threads.
  bool busy() const { return busy_.load(std::memory_order_relaxed) != 0; }
  bool anything_unexpected() const { return first_ != nullptr; }

  // Prepares it for several threads; `several`: other lanes bring messages of the same communicators.
  void share(bool several) {
    several_ = several;
    extra_ = 1;
    busy_.store(1, std::memory_order_relaxed);
  }

  // Whether something has come since the last settle() that may tell where pending messages belong.
  bool unsettled() const { return unsettled_; }
  void set_unsettled(bool unsettled) { unsettled_ = unsettled; }
  // Whether there are pending messages; the first of them, in order of arrival, of this context and source.
  bool any_pending() const { return pending_ != 0; }
  Unexpected* first_pending() const;
  Unexpected* first_pending(uint32_t context, int32_t source) const;

  // All lanes held: the receive posted first that matches a pending message, taken out of its list; nullptr when there
  // is none. The message is pending no more.
  Request* settle(Unexpected* message, AnyTags& any_tags);

  // The first message that matches, left where it is; nullptr when there is none.
  Unexpected* find(const Envelope& wanted);
  // The first message that matches and is not pending. From the first pending one on, all messages of a source and
  // context are pending.
  Unexpected* find_free(const Envelope& wanted);
  // Kept messages that match a receive which is posted all the same, since which is its own cannot be told yet.
  void hold(const Envelope& wanted);

  void add(Unexpected* message);
  void remove(Unexpected* message);

  // Visits all unexpected messages in order of arrival.
  Unexpected* first_unexpected() const { return first_; }

  // A receive must look twice, whatever is kept, while the progress thread is at work
  // (core/progress/progress_thread_post.hpp). With the lock.
  void set_attended(bool attended) {
    const uint32_t busy = busy_.load(std::memory_order_relaxed) & ~attended_bit;
    busy_.store(attended ? busy | attended_bit : busy, std::memory_order_release);
  }

  // Whether messages are kept, of a lane that is share()d, or the progress thread is at work.
  bool keeps_any() const { return busy_.load(std::memory_order_relaxed) != 1; }

  uint32_t bins() const { return mask_ / static_cast<uint32_t>(sizeof(Bin)) + 1; }

  // Messages kept now. Any thread may ask.
  uint32_t kept() const {
    const uint32_t busy = busy_.load(std::memory_order_relaxed) & ~attended_bit;
    return busy > extra_ ? busy - extra_ : 0;  // it may look while share() is at work
  }

 private:
  static constexpr uint32_t first_count = 256;
  static constexpr uint32_t most_count = 1 << 19;  // bin_of() takes so many bits
  static constexpr uint32_t attended_bit = 1U << 31;

  struct Bin {
    RequestQueue posted;
    Unexpected* unexpected = nullptr;
    Unexpected* unexpected_last = nullptr;

    void append(Unexpected* message);
  };
  static_assert(sizeof(Bin) == 32);

  Bin& bin_of(const Envelope& e) const {
    const uint32_t mixed = e.context * 0x9e3779b1u + static_cast<uint32_t>(e.source) * 0x85ebca6bu +
                           static_cast<uint32_t>(e.tag) * 0xc2b2ae35u;
    return *reinterpret_cast<Bin*>(reinterpret_cast<char*>(bins_) + (mixed >> 8 & mask_));
  }

  // The receive of this envelope in its queue, and the one before it there. The bins become more first once searches
  // have cost as much as moving their contents; then the queue is another.
  Request* search(RequestQueue*& queue, const Envelope& envelope, Request*& before);
  [[gnu::cold, gnu::noinline]] void grow();

  Request* take_earliest(const AnyTags& any_tags, RequestQueue& queue, Request* before, Request* specific,
                         const Envelope& envelope);
  // The receive of this lane posted first that matches, not yet taken out.
  struct Candidate {
    Request* receive;
    RequestQueue* queue;
    Request* before;
    uint64_t order() const { return receive != nullptr ? receive->post_order : UINT64_MAX; }
  };
  Candidate earliest(RequestQueue& queue, Request* before, Request* specific, const Envelope& envelope);
  Request* take(const Candidate& candidate);
  void raise_stamp(Envelope& envelope);

  // Receives with wildcards change this line, so it is not that of `busy_`.
  alignas(128) uint64_t order_ = 0;
  uint32_t wild_and_pending_ = 0;  // receives in wild_, and pending messages
  uint32_t pending_ = 0;           // of the kept
  bool unsettled_ = false;
  RequestQueue wild_;

  // Every receive of the process looks at the first lane's `busy_`: on this line lies nothing that a posted receive or
  // its message changes.
  alignas(128) std::atomic<uint32_t> busy_{0};  // messages kept, one more with several threads, and a bit
  uint32_t mask_ = 0;                           // of the offset of a bin, in bytes
  Bin* bins_ = nullptr;                         // first_bins_, or more of them from the heap
  uint32_t extra_ = 0;
  bool several_ = false;
  bool hold_next_ = false;  // the message that add() gets next is pending
  Unexpected* first_ = nullptr;
  Unexpected* last_ = nullptr;
  struct Latest;
  Latest* latest_ = nullptr;
  uint64_t passed_ = 0;       // by searches, since the bins were looked at
  uint64_t passed_most_ = 0;  // then they are looked at again
  alignas(128) Bin first_bins_[first_count];
};

}  // namespace weft::core
