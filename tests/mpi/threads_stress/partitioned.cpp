// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Partitioned messages around the ring of ranks.
#include <algorithm>

#include "threads_stress/worker.hpp"

namespace stress {

uint64_t Worker::part_salt(int from, uint64_t round) const {
  return turn_.seed + round * 31 + static_cast<uint64_t>(from);
}

void Worker::start_parts() {
  static constexpr size_t sizes[] = {512, 32 << 10, 320 << 10, 2048};
  const size_t bytes = sizes[me_ % 4];
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  parts_.out.resize(bytes);
  parts_.in.resize(bytes);
  OK(MPI_Psend_init(parts_.out.data(), Parts::send_parts, static_cast<MPI_Count>(bytes / Parts::send_parts), MPI_BYTE,
                    to, me_, turn_.parted, MPI_INFO_NULL, &parts_.send));
  OK(MPI_Precv_init(parts_.in.data(), Parts::receive_parts, static_cast<MPI_Count>(bytes / Parts::receive_parts),
                    MPI_BYTE, from, me_, turn_.parted, MPI_INFO_NULL, &parts_.receive));
}

void Worker::check_part(const Parts& parts, int partition) {
  const size_t bytes = parts.in.size() / Parts::receive_parts, first = bytes * static_cast<size_t>(partition);
  // The first byte of all says whether it is the last round.
  const uint64_t salt = part_salt((rank + size - 1) % size, parts.round_in);
  bool right = true;
  for (size_t i = std::max<size_t>(first, 1); i < first + bytes && right; ++i) {
    right = parts.in[i] == threads::byte_at(salt, i);
  }
  EXPECT(right, "partition %d of round %llu is wrong; seed %llu", partition,
         static_cast<unsigned long long>(parts.round_in), static_cast<unsigned long long>(turn_.seed));
  ++turn_.partitions;
}

bool Worker::serve_parts() {
  bool moved = false;
  int flag = 0;
  if (!parts_.sending && !parts_.send_over && random_.one_in(8)) {
    parts_.last_out = threads::now() > turn_.end;
    threads::fill(parts_.out.data(), parts_.out.size(), part_salt(rank, parts_.round_out));
    parts_.out[0] = parts_.last_out;
    OK(MPI_Start(&parts_.send));
    parts_.sending = moved = true;
    parts_.not_ready = Parts::send_parts;
    const int shift = random_.below(Parts::send_parts);
    for (int i = 0; i < Parts::send_parts; ++i) {
      put({Task::ready, nullptr, nullptr, &parts_, (i * 3 + shift) % Parts::send_parts});
    }
  } else if (parts_.sending && parts_.not_ready == 0) {
    OK(MPI_Test(&parts_.send, &flag, MPI_STATUS_IGNORE));
    if (flag != 0) {
      parts_.sending = false;
      ++parts_.round_out;
      moved = true;
      if (parts_.last_out) {
        parts_.send_over = true;
        OK(MPI_Request_free(&parts_.send));
      }
    }
  }
  if (!parts_.receiving && !parts_.receive_over) {
    OK(MPI_Start(&parts_.receive));
    parts_.receiving = moved = true;
    parts_.not_arrived = Parts::receive_parts;
    for (int i = 0; i < Parts::receive_parts; ++i) put({Task::arrived, nullptr, nullptr, &parts_, i});
  } else if (parts_.receiving && parts_.not_arrived == 0) {
    OK(MPI_Test(&parts_.receive, &flag, MPI_STATUS_IGNORE));
    if (flag != 0) {
      parts_.receiving = false;
      ++parts_.round_in;
      moved = true;
      turn_.watch->moved();
      if (parts_.in[0] != 0) {
        parts_.receive_over = true;
        OK(MPI_Request_free(&parts_.receive));
      }
    }
  }
  return moved;
}

}  // namespace stress
