// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "threads_order/pattern.hpp"

#include <vector>

namespace order {

void first_wildcard(Team& senders) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size, count = 64;
  std::vector<int> who(count), values(count), got(count, -1);
  for (int i = 0; i < count; ++i) {
    who[static_cast<size_t>(i)] = i / 3 % Team::members;
    values[static_cast<size_t>(i)] = i;
  }
  std::vector<MPI_Request> requests(count);
  senders.run(who, 1, [&](int i) {
    OK(MPI_Isend(&values[static_cast<size_t>(i)], 1, MPI_INT, to, i * 5 % 64, MPI_COMM_WORLD,
                 &requests[static_cast<size_t>(i)]));
  });
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    int& value = got[static_cast<size_t>(i)];
    OK(MPI_Recv(&value, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(value == i, "the first wildcards: message %d came instead of %d", value, i);
  }
  OK(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
}

void full_ring(Team& senders, Team& receivers, uint64_t seed) {
  if (size < 2) return;
  const int count = 4000;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Random random(seed);
  std::vector<int> who(count), tags(count), bytes(count);
  for (size_t i = 0; i < count; ++i) {
    const bool flood = i < 3000 && i % 500 != 0;
    who[i] = flood ? 0 : i % 500 == 0 ? 1 : random.below(Team::members);
    tags[i] = flood ? 1 : i % 500 == 0 ? 2 + static_cast<int>(i / 500) : random.below(64);
    bytes[i] = i % 499 == 7 ? 100 << 10 : 8 + random.below(1000);
  }
  const bool sends = rank % 2 == 0 && rank + 1 < size, receives = rank % 2 == 1;
  if (sends) {
    std::vector<int32_t> heads(count * 256);  // 1 KiB each; large ones share what follows
    std::vector<std::vector<unsigned char>> large;
    std::vector<MPI_Request> requests(count);
    large.reserve(count / 499 + 2);
    senders.run(who, seed, [&](int i) {
      const size_t at = static_cast<size_t>(i);
      void* from = &heads[at * 256];
      if (bytes[at] > 1024) {
        large.emplace_back(static_cast<size_t>(bytes[at]));
        from = large.back().data();
      }
      memcpy(from, &i, sizeof i);
      OK(MPI_Isend(from, bytes[at], MPI_BYTE, rank + 1, tags[at], comm, &requests[at]));
      watch->moved();
    });
    OK(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
  } else if (receives) {
    threads::sleep_us(50000);
    for (size_t i = 0; i < count; ++i) who[i] = random.below(20) < 19 ? 0 : random.below(Team::members);
    std::vector<unsigned char> data(100 << 10);
    int wrong = 0;
    receivers.run(who, seed, [&](int i) {
      MPI_Status status;
      int got = -1, length = -1;
      OK(MPI_Recv(data.data(), 100 << 10, MPI_BYTE, i % 2 == 0 ? rank - 1 : MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                  &status));
      memcpy(&got, data.data(), sizeof got);
      MPI_Get_count(&status, MPI_BYTE, &length);
      const size_t at = static_cast<size_t>(i);
      if ((got != i || status.MPI_TAG != tags[at] || length != bytes[at]) && ++wrong < 5) {
        EXPECT(got == i, "full ring: message %d came instead of %d; tag %d, %d bytes; expected %d, %d", got, i,
               status.MPI_TAG, length, tags[at], bytes[at]);
      }
      watch->moved();
    });
    EXPECT(wrong == 0, "full ring: %d messages out of order", wrong);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
}

void many_sources(Team& senders, Team& receivers, uint64_t seed) {
  enum { per_rank = 40, tags = 5 };
  enum Style { nothing, tag, source } style = static_cast<Style>(Random(seed).below(3));
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  struct Sent {
    int source, tag, index;
  };
  std::vector<Sent> all;
  for (int r = 0; r < size; ++r) {
    Random random(seed * 77 + static_cast<uint64_t>(r));
    for (int i = 0; i < per_rank; ++i) all.push_back({r, random.below(tags), i});
  }
  std::thread sender([&] {
    Random random(seed * 13 + static_cast<uint64_t>(rank));
    std::vector<int> who;
    for (int i = 0; i < per_rank; ++i) who.push_back(random.below(Team::members));
    std::vector<MPI_Request> requests(per_rank);
    const Sent* mine = &all[static_cast<size_t>(rank * per_rank)];
    senders.run(who, seed, [&](int i) {
      OK(MPI_Isend(&mine[i], sizeof(Sent), MPI_BYTE, 0, mine[i].tag, comm, &requests[static_cast<size_t>(i)]));
    });
    OK(MPI_Waitall(per_rank, requests.data(), MPI_STATUSES_IGNORE));
  });
  if (rank == 0) {
    Random random(seed + 3);
    std::vector<Sent> order = all;
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<size_t>(random.below(static_cast<int>(i) + 1))]);
    std::vector<int> who;
    std::vector<Kind> how;
    for (size_t i = 0; i < order.size(); ++i) {
      who.push_back(random.below(Team::members));
      how.push_back(static_cast<Kind>(random.below(kinds)));
    }
    std::vector<Got> gots(order.size());
    for (Got& got : gots) got.data.resize(sizeof(Sent));
    receivers.run(who, seed + 1, [&](int i) {
      const size_t at = static_cast<size_t>(i);
      receive(how[at], gots[at], style == source ? order[at].source : MPI_ANY_SOURCE,
              style == tag ? order[at].tag : MPI_ANY_TAG, comm);
      watch->moved();
    });
    complete(gots, random);
    std::vector<int> next(static_cast<size_t>(size * (tags + 1)), -1);
    for (const Got& got : gots) {
      Sent sent;
      memcpy(&sent, got.data.data(), sizeof sent);
      EXPECT(got.status.MPI_SOURCE == sent.source && got.status.MPI_TAG == sent.tag,
             "many sources: status %d, %d, message %d, %d", got.status.MPI_SOURCE, got.status.MPI_TAG, sent.source,
             sent.tag);
      if (sent.source < 0 || sent.source >= size || sent.tag < 0 || sent.tag >= tags) break;
      int& last = next[static_cast<size_t>(sent.source * (tags + 1) + (style == tag ? sent.tag : tags))];
      EXPECT(sent.index > last, "many sources (style %d, seed %llu): of source %d message %d came after %d", style,
             static_cast<unsigned long long>(seed), sent.source, sent.index, last);
      last = sent.index;
    }
  }
  sender.join();
  MPI_Comm_free(&comm);
}

void receivers_at_once(Team& senders, uint64_t seed) {
  enum { per_thread = 100, count = per_thread * Team::members };
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  std::vector<std::atomic<int>> times(count);
  std::vector<std::thread> receivers;
  for (int t = 0; t < Team::members; ++t) {
    receivers.emplace_back([&, t] {
      Random random(seed * 5 + static_cast<uint64_t>(t));
      int last = -1;
      for (int i = 0; i < per_thread; ++i) {
        int value = -1;
        MPI_Status status;
        MPI_Message message;
        const int source = random.one_in(2) ? from : MPI_ANY_SOURCE;
        if (random.one_in(3)) {
          OK(MPI_Mprobe(source, MPI_ANY_TAG, comm, &message, &status));
          OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
        } else {
          OK(MPI_Recv(&value, 1, MPI_INT, source, MPI_ANY_TAG, comm, &status));
        }
        EXPECT(value > last && value < count, "receivers at once: %d came after %d", value, last);
        if (value < 0 || value >= count) continue;
        ++times[static_cast<size_t>(value)];
        last = value;
        watch->moved();
      }
    });
  }
  Random random(seed);
  std::vector<int> who, values;
  for (int i = 0; i < count; ++i) {
    who.push_back(random.below(Team::members));
    values.push_back(i);
  }
  senders.run(who, seed,
              [&](int i) { OK(MPI_Send(&values[static_cast<size_t>(i)], 1, MPI_INT, to, i * 3 % 32, comm)); });
  for (std::thread& t : receivers) t.join();
  for (int i = 0; i < count; ++i) {
    EXPECT(times[static_cast<size_t>(i)] == 1, "message %d came %d times", i, times[static_cast<size_t>(i)].load());
  }
  MPI_Comm_free(&comm);
}

}  // namespace order
