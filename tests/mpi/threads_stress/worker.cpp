// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A thread from its first step to its last.
#include "threads_stress/worker.hpp"

#include <algorithm>

namespace stress {

Worker::Worker(Turn& turn, int me)
    : turn_(turn), me_(me), random_(turn.seed * 1009 + static_cast<uint64_t>(rank * 64 + me)) {
  for (int to = 0; to < size; ++to) {
    for (int u = 0; u < thread_count; ++u) {
      for (int c = 0; c < classes; ++c) {
        targets_.push_back(std::make_unique<Target>(pair, to, u, c));
        targets_.push_back(std::make_unique<Target>(tagged, to, u, c));
      }
      targets_.push_back(std::make_unique<Target>(source, to, u, 0));
      targets_.push_back(std::make_unique<Target>(wild, to, u, 0));
    }
    targets_.push_back(std::make_unique<Target>(shared, to, 0, 0));
    for (int t = 0; t < thread_count; ++t) {
      for (int c = 0; c < classes; ++c)
        add_channel(pair, turn.pairs, to, (t * thread_count + me) * classes + c, c, t, 1);
    }
    add_channel(source, turn.by_source[static_cast<size_t>(me)], to, MPI_ANY_TAG, 0, -1, thread_count);
  }
  for (int c = 0; c < classes; ++c) {
    add_channel(tagged, turn.tags, MPI_ANY_SOURCE, me * classes + c, c, -1, size * thread_count);
  }
  add_channel(wild, turn.by_any[static_cast<size_t>(me)], MPI_ANY_SOURCE, MPI_ANY_TAG, 0, -1, size * thread_count);
  add_channel(shared, turn.everybody, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, -1, 0);
}

void Worker::add_channel(Kind kind, MPI_Comm comm, int from, int tag, int c, int sender, int ends) {
  Channel channel{kind, comm, from, tag, kind == shared ? 0 : me_, c, sender, ends, {}, {}, {}};
  channel.next.resize(static_cast<size_t>(size * thread_count));
  channels_.push_back(std::move(channel));
}

void Worker::run() {
  if (turn_.with_parts) start_parts();
  while (!finished()) {
    const bool moved = step();
    if (!moved) sched_yield();
  }
  free_slots();
  --turn_.working;
  // The others may still need somebody for what is in the box.
  while (turn_.working > 0) {
    if (!serve_box()) sched_yield();
  }
}

bool Worker::step() {
  bool moved = false;
  for (Channel& channel : channels_) moved |= serve(channel);
  moved |= send_something();
  moved |= complete_something();
  moved |= serve_box();
  if (turn_.with_parts) moved |= serve_parts();
  if (random_.one_in(50)) cancel_something();
  if (random_.one_in(500)) cancel_nothing();
  threads::random_delay(random_);
  if (expect::failures > 10) {
    fprintf(stderr, "rank %d: too many failures; seed %llu\n", rank, static_cast<unsigned long long>(turn_.seed));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return moved;
}

bool Worker::finished() const {
  if (!ended_ || open_ > 0 || !mine_.empty()) return false;
  if (turn_.with_parts && !(parts_.send_over && parts_.receive_over)) return false;
  return std::all_of(channels_.begin(), channels_.end(), [](const Channel& c) { return c.over && c.posted.empty(); });
}

void Worker::free_slots() {
  for (Channel& channel : channels_) {
    for (Slot* slot : channel.unused) {
      if (slot->request != MPI_REQUEST_NULL) OK(MPI_Request_free(&slot->request));
      delete slot;
    }
  }
}

}  // namespace stress
