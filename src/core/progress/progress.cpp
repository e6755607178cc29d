// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/progress.hpp"

#include "core/lane/lane.hpp"
#include "core/lane/progress_hooks.hpp"
#include "core/message/handler.hpp"
#include "core/message/path.hpp"
#include "core/message/send_queue.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/progress_thread_post.hpp"
#include "core/thread/thread.hpp"
#include "core/thread/waits.hpp"

namespace weft::core {

namespace {

bool progress_lane(Lane& lane) {
  bool moved = lane.ring != nullptr && receive_ring(lane);
  for (auto* at = peers->transports.polled(); transport::Transport* t = at->load(std::memory_order_acquire); ++at) {
    moved |= t->poll(lane.index, t->capabilities().drains ? on_counted_arrival : on_numbered_arrival) != 0;
  }
  if (lane.at_work.load(std::memory_order_relaxed)) [[unlikely]]
    moved |= advance_work(lane);
  return moved;
}

// Nothing to do there, as far as one can see without its lock.
bool looks_idle(const Lane& lane) {
  if ((lane.ring != nullptr && !lane.ring->empty()) || lane.at_work.load(std::memory_order_relaxed)) return false;
  for (auto* at = peers->transports.polled(); transport::Transport* t = at->load(std::memory_order_acquire); ++at) {
    if (!t->looks_empty(lane.index)) return false;
  }
  return true;
}

// At MPI_THREAD_MULTIPLE, unless another thread is at it or has to have the lane: threads that only look would take the
// lock again and again before one that comes to send. `awaited`: the receive that this thread waits for in MPI_Recv.
bool try_progress(Lane& lane, Request* awaited) {
  if (lane.entering.load(std::memory_order_relaxed) != 0 || looks_idle(lane)) return false;
  LaneGuard guard(lane, LaneGuard::TryTag{});
  if (!guard.held()) return false;
  if (awaited != nullptr && awaited->lane == lane.index) lane.matcher.bring_forward(*awaited);
  return progress_lane(lane);
}

bool flush() {
  bool sent = false;
  if (gathering.load(std::memory_order_relaxed) != 0) [[unlikely]]
    sent = flush_gathered();
  if (peers->queues_waiting.load(std::memory_order_relaxed) != 0) sent |= flush_waiting();
  return sent;
}

}  // namespace

bool progress(Request* awaited) {
  if (!threads->concurrent) {
    const bool moved = progress_lane(lanes->all[0]);
    return flush() | moved;
  }
  bool moved = flush();
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) moved |= try_progress(lanes->all[i], awaited);
  return moved;
}

void progress_at_times() {
  constexpr uint32_t every = 8;
  if (++hot_thread().calls_without_progress % every == 0) (void)progress();
}

bool progress_with_thread() {
  if (!posts_with_thread()) return progress();
  const bool idle = looks_idle(lanes->all[0]) && gathering.load(std::memory_order_relaxed) == 0 &&
                    peers->queues_waiting.load(std::memory_order_relaxed) == 0;
  if (idle) return false;
  const AtWork work;
  return work.may() && progress();
}

bool progress_on(uint32_t lane, uint32_t round, Request* awaited) {
  const uint32_t others_every = waits->others_every.load(std::memory_order_relaxed);
  const bool all =
      lane >= lanes->map.lanes() || (round & (others_every - 1)) == others_every - 1 ||
      waits->sleepers.load(std::memory_order_relaxed) != 0;  // threads that are awake poll for those that sleep
  if (!threads->concurrent || all) return progress(awaited);
  const bool queued = (peers->queues_waiting.load(std::memory_order_relaxed) >> lane & 1) != 0;
  const bool sent = queued && flush_waiting(lane);
  return try_progress(lanes->all[lane], awaited) | sent;
}

bool progress_for(Request& request, uint32_t round) {
  const bool receives = request.flags.awaited && request.role == Role::receive;
  return progress_on(request.lane, round, receives ? &request : nullptr);
}

}  // namespace weft::core
