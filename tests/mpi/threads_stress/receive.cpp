// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Receiving: posted receives, probes, cancels.
#include "threads_stress/worker.hpp"

namespace stress {

bool Worker::serve(Channel& channel) {
  bool moved = false;
  while (!channel.posted.empty() && channel.posted.front()->done) {
    Slot* slot = channel.posted.front();
    channel.posted.pop_front();
    if (!slot->cancelled) {
      EXPECT(!slot->refused, "a receive that could not match was not cancelled; kind %d", channel.kind);
      check(channel, slot->data.data(), slot->status);
    }
    slot->done = slot->cancelled = slot->cancel = slot->lent = false;
    if (slot->found) {
      delete slot;
    } else {
      channel.unused.push_back(slot);
    }
    moved = true;
  }
  const bool all_here = channel.kind == shared ? turn_.shared_ends == 0 : channel.ends_left == 0;
  if (all_here) {
    if (!channel.over) {
      channel.over = true;
      for (Slot* slot : channel.posted) {
        // If all threads receive here, this receive may have been given a message long ago.
        slot->refused = channel.kind != shared;
        cancel(slot);
      }
    }
    return moved;
  }
  if (channel.posted.size() >= depths[channel.kind]) return moved;
  if (random_.one_in(5)) return probe(channel) || moved;
  if (channel.posted.empty() || random_.one_in(3)) post(channel);
  return moved;
}

void Worker::post(Channel& channel) {
  Slot* slot;
  if (channel.unused.empty()) {
    slot = new Slot;
    slot->data.resize(limits[channel.kind]);
  } else {
    slot = channel.unused.back();
    channel.unused.pop_back();
  }
  if (!slot->persistent && random_.one_in(6)) {
    slot->persistent = true;
    OK(MPI_Recv_init(slot->data.data(), static_cast<int>(slot->data.size()), MPI_BYTE, channel.source_pattern,
                     channel.tag_pattern, channel.comm, &slot->request));
  }
  if (slot->persistent) {
    OK(MPI_Start(&slot->request));
  } else {
    OK(MPI_Irecv(slot->data.data(), static_cast<int>(slot->data.size()), MPI_BYTE, channel.source_pattern,
                 channel.tag_pattern, channel.comm, &slot->request));
  }
  channel.posted.push_back(slot);
  if (random_.one_in(5)) {
    ++turn_.lent;
    slot->lent = true;
    put({Task::complete_receive, slot, nullptr, nullptr, 0});
  }
}

bool Worker::probe(Channel& channel) {
  MPI_Status status;
  MPI_Message message = MPI_MESSAGE_NULL;
  int flag = 0, count = 0;
  // Between Iprobe and the receive nobody else may take it.
  const bool by_message = channel.kind == shared || random_.one_in(2);
  if (by_message) {
    OK(MPI_Improbe(channel.source_pattern, channel.tag_pattern, channel.comm, &flag, &message, &status));
  } else {
    OK(MPI_Iprobe(channel.source_pattern, channel.tag_pattern, channel.comm, &flag, &status));
  }
  if (flag == 0) return false;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (count < 0 || static_cast<size_t>(count) > limits[channel.kind]) {
    EXPECT(false, "a message of %d bytes was found", count);
    return false;
  }
  auto* slot = new Slot;
  slot->found = true;
  slot->data.resize(static_cast<size_t>(count));
  where_ = "receive of a message found";
  if (by_message && random_.one_in(2)) {
    OK(MPI_Imrecv(slot->data.data(), count, MPI_BYTE, &message, &slot->request));
    if (random_.one_in(2)) OK(MPI_Wait(&slot->request, &slot->status));
  } else if (by_message) {
    OK(MPI_Mrecv(slot->data.data(), count, MPI_BYTE, &message, &slot->status));
  } else {
    OK(MPI_Recv(slot->data.data(), count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, channel.comm, &slot->status));
  }
  where_ = "running";
  slot->done = slot->request == MPI_REQUEST_NULL;
  // All posted before it have their messages, so its place is behind them.
  channel.posted.push_back(slot);
  return true;
}

void Worker::cancel(Slot* slot) {
  if (slot->found || slot->cancel || slot->done) return;
  slot->cancel = true;
  if (!slot->lent) OK(MPI_Cancel(&slot->request));
}

void Worker::cancel_something() {
  Channel& channel = channels_[static_cast<size_t>(random_.below(static_cast<int>(channels_.size())))];
  if (channel.posted.empty()) return;
  cancel(channel.posted[static_cast<size_t>(random_.below(static_cast<int>(channel.posted.size())))]);
}

void Worker::cancel_nothing() {
  MPI_Request request;
  MPI_Status status;
  int word, cancelled = 0;
  OK(MPI_Irecv(&word, 1, MPI_INT, random_.one_in(2) ? MPI_ANY_SOURCE : rank, 1 << 14, turn_.pairs, &request));
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT(cancelled, "a receive that could not match was not cancelled; tag %d", status.MPI_TAG);
  ++turn_.cancels;
}

void Worker::received(Slot* slot) {
  int cancelled = 0;
  MPI_Test_cancelled(&slot->status, &cancelled);
  slot->cancelled = cancelled != 0;
  if (slot->cancelled) ++turn_.cancels;
  turn_.watch->moved();
  slot->done = true;
}

}  // namespace stress
