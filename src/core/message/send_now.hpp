// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The short route of a small message, inlined into its callers: the one place of core that knows the transport behind
// an endpoint. The peer's pointer to its ring tells that the route is open: the peer is connected, no message waits for
// space, and the peer takes more than envelopes. A message that does not leave at once takes the general route,
// start_send().
//
// One thread at a time to a peer with one lane takes try_now(); every other case try_now_wide(). send_now() is the same
// out of line for whatever fits into the mailbox. A receive is posted at once by try_post(), and by try_post_wide() at
// MPI_THREAD_MULTIPLE. The lanes are an argument so that their address stays in a register across stores.

#include "core/message/path.hpp"
#include "core/message/prepare.hpp"
#include "core/message/settle.hpp"
#include "core/peer/peer.hpp"
#include "core/thread/stamp.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {

// Does as the peer's attention word asks: waking it, or closing its way to data. Returns 0, for callers in a hurry:
// they are done, and only jump here.
[[gnu::noinline]] int attend(Peer& peer);

// The steps behind a message in the ring: it is counted, and the peer's attention word looked at. True: attend() to it.
[[gnu::always_inline]] inline bool sent_now(Thread& me, const transport::inlined::Endpoint& way, int64_t bytes) {
  PathCount& sent = me.sent[static_cast<int>(Path::mailbox)];
  count(sent.messages);
  count(sent.bytes, static_cast<uint64_t>(bytes));
  std::atomic_signal_fence(std::memory_order_seq_cst);  // see arm() of the transport
  return way.attention().load(std::memory_order_relaxed) != 0;
}

// The outcome of an attempt to send at once.
enum class Tried : uint8_t { not_sent, sent, sent_and_attend };
[[gnu::always_inline]] inline Tried tried(bool calls_for_attention) {
  return calls_for_attention ? Tried::sent_and_attend : Tried::sent;
}

// The peer behind a rank, as far as it is known.
[[gnu::always_inline]] inline Peer& known_peer(const Comm& comm, int32_t dest) {
  return *peers->find(comm.job_rank(dest));
}

// Sends at most tiny_bytes in the point-to-point context.
[[gnu::always_inline]] inline Tried try_now(const Comm& comm, Peer& peer, const void* buffer, int64_t bytes,
                                            int32_t tag) {
  transport::inlined::Endpoint* const open = peer.open.load(std::memory_order_relaxed);
  if (open == nullptr) [[unlikely]]
    return Tried::not_sent;
  uint64_t position;
  transport::inlined::Cell* cell;
  if (!open->ring().try_reserve(&cell, &position)) [[unlikely]]
    return Tried::not_sent;
  open->ring().fill(cell, position, wire::eager, {comm.context, comm.rank, tag, 0}, buffer,
                    static_cast<uint32_t>(bytes));
  return tried(sent_now(threads->main, *open, bytes));
}

// Sends as try_now() does, at MPI_THREAD_MULTIPLE, to a peer with any number of lanes. It takes no lock.
[[gnu::always_inline]] inline Tried try_now_wide(const Comm& comm, Peer& peer, const void* buffer, int64_t bytes,
                                                 int32_t tag) {
  transport::inlined::Endpoint* const way = peer.wide.load(std::memory_order_relaxed);
  Thread* const me = own_thread;
  if (way == nullptr) [[unlikely]]
    return Tried::not_sent;
  uint32_t lane = 0;
  uint64_t stamp = 0;
  if (peer.lane_map.mask != 0) {
    lane = peer.lane_map.lane_of(comm.context, tag);
    StampSlot<>& slot = peer.stamps->slot(comm.context);
    if (!slot.belongs_to(me)) [[unlikely]]  // a slot without an owner does not belong to a thread not known yet
      return Tried::not_sent;
    stamp = slot.next_own();
  } else if (me == nullptr || threads->design == Design::global) [[unlikely]] {
    return Tried::not_sent;
  }
  auto& ring = way->ring(lane);
  uint64_t position;
  transport::inlined::Cell* cell;
  if (!ring.try_reserve(&cell, &position)) [[unlikely]]
    return Tried::not_sent;
  ring.fill(cell, position, wire::eager, {comm.context, comm.rank, tag, 0, stamp}, buffer,
            static_cast<uint32_t>(bytes));
  return tried(sent_now(*me, *way, bytes));
}

// Sends contiguous data that fit into the mailbox. It takes no lock but by design `global`.
bool send_now(const Comm& comm, uint32_t context, const void* buffer, int64_t bytes, int32_t dest, int32_t tag);

// A receive of contiguous data that names source and tag.
[[gnu::always_inline]] inline Request* prepare_receive(Request* r, Comm& comm, void* buffer, int64_t bytes,
                                                       int32_t source, int32_t tag) {
  prepare(r, comm, Role::receive);
  r->buffer = buffer;
  r->bytes = bytes;
  r->layout = nullptr;
  wish(*r, comm.context, source, tag);
  return r;
}

// Posts it while one thread at a time communicates and no unexpected message is kept; nullptr otherwise.
[[gnu::always_inline]] inline Request* try_post(Lanes& in, Comm& comm, void* buffer, int64_t bytes, int32_t source,
                                                int32_t tag) {
  Matcher& matcher = in.all[0].matcher;
  if (matcher.busy() || threads->main.free_requests == nullptr) [[unlikely]]
    return nullptr;
  Request* r = prepare_receive(threads->main.take_first(), comm, buffer, bytes, source, tag);
  matcher.post(*r);
  return r;
}

// Posts as try_post() does, at MPI_THREAD_MULTIPLE, while the receive's lane is free and keeps no unexpected message;
// `wild`: with wildcards; `awaited`: of MPI_Recv; `with_thread`: in a process with a progress thread, which may be at
// work (core/progress/progress_thread_post.hpp).
template <bool wild = false, bool awaited = false, bool with_thread = false>
[[gnu::always_inline]] inline Request* try_post_wide(Lanes& in, Comm& comm, void* buffer, int64_t bytes, int32_t source,
                                                     int32_t tag) {
  Thread* const me = own_thread;
  if (me == nullptr || me->free_requests == nullptr) [[unlikely]]
    return nullptr;
  const uint32_t index = in.map.lane_of(comm.context, tag);
  Lane& lane = *in.addresses[index];
  if (!lane.lock.try_lock()) [[unlikely]]
    return nullptr;
  if (with_thread ? lane.matcher.kept() != 0 : lane.matcher.keeps_any()) [[unlikely]] {
    lane.lock.unlock();
    return nullptr;
  }
  Request* r = prepare_receive(me->take_first(), comm, buffer, bytes, source, tag);
  r->lane = static_cast<uint16_t>(index);
  if constexpr (awaited) r->flags.awaited = true;
  if constexpr (wild) {
    lane.matcher.post_wild(*r);
  } else {
    lane.matcher.post(*r);
  }
  lane.lock.unlock();
  return r;
}

// Posts a receive with MPI_ANY_TAG whose messages may come by any lane, while all lanes are free and keep no unexpected
// message: nothing that was read before can match, and what lies unread finds it posted.
[[gnu::noinline]] inline Request* try_post_across(Lanes& in, Comm& comm, void* buffer, int64_t bytes, int32_t source) {
  Thread* const me = own_thread;
  if (me == nullptr || me->free_requests == nullptr) return nullptr;
  const uint32_t count = in.map.lanes();
  bool free = true;
  uint32_t looked_at = 0;
  for (; free && looked_at < count; ++looked_at) {
    Lane& lane = in.all[looked_at];
    if (!lane.lock.try_lock()) break;
    free = lane.matcher.kept() == 0;
  }
  Request* r = nullptr;
  if (free && looked_at == count) {
    r = prepare_receive(me->take_first(), comm, buffer, bytes, source, any_tag);
    r->lane = any_lane;
    post_across(*r);
  }
  while (looked_at-- > 0) in.all[looked_at].lock.unlock();
  return r;
}

// A receive with wildcards, as try_post() and try_post_wide().
[[gnu::always_inline]] inline Request* try_post_wild(Lanes& in, Comm& comm, void* buffer, int64_t bytes, int32_t source,
                                                     int32_t tag) {
  if (tag == any_tag && in.map.parts()) return try_post_across(in, comm, buffer, bytes, source);
  if (threads->concurrent) return try_post_wide<true>(in, comm, buffer, bytes, source, tag);
  Matcher& matcher = in.all[0].matcher;
  if (matcher.busy() || threads->main.free_requests == nullptr) return nullptr;
  Request* r = prepare_receive(threads->main.take_first(), comm, buffer, bytes, source, tag);
  r->lane = 0;
  matcher.post_wild(*r);
  return r;
}

}  // namespace weft::core
