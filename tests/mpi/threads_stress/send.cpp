// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Sending: to whom, what, and how.
#include <algorithm>

#include "threads_stress/worker.hpp"

namespace stress {

MPI_Comm Worker::comm_of(const Target& t) const {
  switch (t.kind) {
    case pair:
      return turn_.pairs;
    case tagged:
      return turn_.tags;
    case source:
      return turn_.by_source[static_cast<size_t>(t.receiver)];
    case wild:
      return turn_.by_any[static_cast<size_t>(t.receiver)];
    default:
      return turn_.everybody;
  }
}

int Worker::tag_of(const Target& t) {
  if (t.kind == pair) return (me_ * thread_count + t.receiver) * classes + t.c;
  if (t.kind == tagged) return t.receiver * classes + t.c;
  return me_ + thread_count * random_.below(spread);
}

size_t Worker::random_bytes(Kind kind) {
  const size_t least = kind == tagged || kind == shared ? sizeof(Head) : 0;
  size_t bytes;
  switch (random_.below(40)) {
    case 0:
      bytes = static_cast<size_t>(random_.below(1 << 20)) + 1;
      break;
    case 1:
    case 2:
      bytes = static_cast<size_t>(random_.below(150 << 10));
      break;
    case 3:
    case 4:
    case 5:
    case 6:
      bytes = static_cast<size_t>(random_.below(20 << 10));
      break;
    case 7:
      bytes = 0;
      break;
    default:
      bytes = static_cast<size_t>(random_.below(300));
  }
  return std::clamp(bytes, least, limits[kind]);
}

bool Worker::may_block_for(const Target& t) const {
  return t.kind == shared ? me_ + 1 < thread_count : t.receiver > me_;
}

void Worker::write(Out& out, bool last) {
  Target& t = *out.target;
  const uint32_t to = address(t.to, t.kind, t.receiver, t.c);
  unsigned char* data = out.data.data();
  const uint64_t salt = salt_of(rank, me_, to, t.sent);
  if (out.data.size() < sizeof(Head)) {
    threads::fill(data, out.data.size(), salt);
  } else {
    const Head head{t.sent,
                    to,
                    static_cast<uint32_t>(out.data.size()),
                    static_cast<uint16_t>(rank),
                    static_cast<uint8_t>(me_),
                    static_cast<uint8_t>(last)};
    memcpy(data, &head, sizeof head);
    threads::fill(data + sizeof head, out.data.size() - sizeof head, salt);
  }
  if (!last) {
    ++t.sent;
    ++turn_.sent;
    turn_.bytes += out.data.size();
  }
}

bool Worker::send_something() {
  if (ended_ || open_ >= window) return false;
  const bool last = threads::now() > turn_.end;
  if (last) {
    // One after the other; then there is nothing more.
    while (ending_ < targets_.size() && targets_[ending_]->ended) ++ending_;
    if (ending_ == targets_.size()) {
      ended_ = true;
      return true;
    }
    targets_[ending_]->ended = true;
    start_send(*targets_[ending_], sizeof(Head) + static_cast<size_t>(random_.below(50)), true);
    return true;
  }
  Target& t = *targets_[static_cast<size_t>(random_.below(static_cast<int>(targets_.size())))];
  if (t.waiting) return false;
  start_send(t, random_bytes(t.kind), false);
  return true;
}

void Worker::start_send(Target& t, size_t bytes, bool last) {
  auto* out = new Out;
  out->data.resize(bytes);
  out->target = &t;
  out->open = &open_;
  out->synchronous = !last && (t.sent % sync_every == sync_every - 1 || random_.one_in(16));
  write(*out, last);
  const void* data = out->data.data();
  const int count = static_cast<int>(bytes), tag = tag_of(t);
  const MPI_Comm comm = comm_of(t);
  if (may_block_for(t) && random_.one_in(4)) {
    where_ = "blocking send";
    OK((out->synchronous ? MPI_Ssend : MPI_Send)(data, count, MPI_BYTE, t.to, tag, comm));
    where_ = "running";
    turn_.watch->moved();
    delete out;
    return;
  }
  if (out->synchronous) t.waiting = true;
  ++open_;
  out->persistent = !last && random_.one_in(6);
  if (out->persistent) {
    OK((out->synchronous ? MPI_Ssend_init : MPI_Send_init)(data, count, MPI_BYTE, t.to, tag, comm, &out->request));
    if (random_.one_in(2)) {
      OK(MPI_Start(&out->request));
    } else {
      OK(MPI_Startall(1, &out->request));
    }
  } else {
    OK((out->synchronous ? MPI_Issend : MPI_Isend)(data, count, MPI_BYTE, t.to, tag, comm, &out->request));
  }
  if (random_.one_in(4)) {
    ++turn_.lent;
    put({Task::complete_send, nullptr, out, nullptr, 0});
  } else {
    mine_.push_back(out);
  }
}

void Worker::sent(Out* out) {
  turn_.watch->moved();
  if (out->persistent) OK(MPI_Request_free(&out->request));
  if (out->synchronous) out->target->waiting = false;
  std::atomic<int>* open = out->open;
  delete out;
  --*open;
}

void Worker::sent_mine(Out* out) {
  Target& t = *out->target;
  const bool again = out->persistent && !t.ended && !ended_ && threads::now() < turn_.end && random_.one_in(2) &&
                     (out->synchronous || (!t.waiting && t.sent % sync_every != sync_every - 1));
  if (again) {
    turn_.watch->moved();
    write(*out, false);
    OK(MPI_Start(&out->request));
    return;
  }
  mine_.erase(std::find(mine_.begin(), mine_.end(), out));
  sent(out);
}

}  // namespace stress
