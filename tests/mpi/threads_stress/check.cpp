// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The expected contents of a message: from where it says, whole, and in order.
#include "threads_stress/worker.hpp"

namespace stress {

void Worker::check(Channel& channel, const unsigned char* data, const MPI_Status& status) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  turn_.watch->moved();
  const int from = status.MPI_SOURCE, tag = status.MPI_TAG;
  const auto seed = static_cast<unsigned long long>(turn_.seed);
  const bool plausible = from >= 0 && from < size && count >= 0 && static_cast<size_t>(count) <= limits[channel.kind] &&
                         (channel.source_pattern == MPI_ANY_SOURCE || channel.source_pattern == from) &&
                         (channel.tag_pattern == MPI_ANY_TAG || channel.tag_pattern == tag);
  EXPECT(plausible, "kind %d: source %d, tag %d, %d bytes; seed %llu", channel.kind, from, tag, count, seed);
  if (!plausible) return;
  const size_t bytes = static_cast<size_t>(count);
  const uint32_t to = address(rank, channel.kind, channel.receiver, channel.c);
  Head head{};
  int thread = channel.sender >= 0 ? channel.sender : channel.kind == tagged ? -1 : tag % thread_count;
  if (bytes >= sizeof head) {
    memcpy(&head, data, sizeof head);
    const bool right = head.rank == from && (thread < 0 || head.thread == thread) && head.thread < thread_count &&
                       head.to == to && head.bytes == bytes;
    EXPECT(right,
           "kind %d, thread %d: from %d, tag %d, %zu bytes came what says: from %d, thread %d, to %x, %u bytes; "
           "seed %llu",
           channel.kind, me_, from, tag, bytes, head.rank, head.thread, head.to, head.bytes, seed);
    if (!right) return;
    thread = head.thread;
  }
  if (thread < 0) {
    EXPECT(false, "a message without a head, of %zu bytes; seed %llu", bytes, seed);
    return;
  }
  uint32_t& next = channel.next[static_cast<size_t>(from * thread_count + thread)];
  if (bytes < sizeof head) head.number = next;
  const bool in_order = channel.kind == shared ? head.number >= next : head.number == next;
  EXPECT(in_order, "kind %d, thread %d: message %u of rank %d, thread %d, tag %d came instead of %u; seed %llu",
         channel.kind, me_, head.number, from, thread, tag, next, seed);
  const size_t skip = bytes < sizeof head ? 0 : sizeof head;
  const long wrong = threads::wrong_at(data + skip, bytes - skip, salt_of(from, thread, to, head.number));
  EXPECT(wrong < 0, "kind %d, thread %d: message %u of rank %d, thread %d, %zu bytes, is wrong at %ld; seed %llu",
         channel.kind, me_, head.number, from, thread, bytes, wrong, seed);
  if (head.last != 0) {
    if (channel.kind == shared) {
      turn_.shared_wanted += head.number;
      turn_.shared_wanted_sum += static_cast<uint64_t>(head.number) * (head.number + 1) / 2;
      --turn_.shared_ends;
    } else {
      --channel.ends_left;
    }
    return;
  }
  next = head.number + 1;
  ++turn_.got;
  if (channel.kind == shared) {
    ++turn_.shared_got;
    turn_.shared_sum += head.number + 1;
  }
}

}  // namespace stress
