// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Threads that use windows at the same time: one window with places for each thread, with flushes and requests of their
// own; counts that all add to; a window for each thread with locks and fences; a target that another rank has locked;
// windows made and freed meanwhile.
//
// usage: win_threads [threads]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "threads.hpp"
#include "windows.hpp"

using expect::rank;
using expect::size;
using threads::Random;
using windows::left;
using windows::right;
using windows::Window;

namespace {

int thread_count = 4;
threads::Watch* watch;

// Calls work(thread) in all threads at the same time.
void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> running;
  for (int t = 0; t < thread_count; ++t) running.emplace_back([&, t] { work(t); });
  for (std::thread& t : running) t.join();
  watch->moved();
}

// Each thread puts, flushes, gets back and compares, in its own part of the window.
void parts_of_one_window() {
  static constexpr int part = 4000;
  Window<int> window(static_cast<size_t>(thread_count * part), -1);
  OK(MPI_Win_lock_all(0, window));
  const int rounds = threads::scaled(30);
  in_threads([&](int t) {
    Random random(static_cast<uint64_t>(t) * 100 + static_cast<uint64_t>(rank));
    std::vector<int> out(part), in(part);
    for (int round = 0; round < rounds; ++round) {
      const int count = random.one_in(3) ? part : 1 + random.below(50), at = t * part + random.below(part - count + 1);
      for (int i = 0; i < count; ++i) out[static_cast<size_t>(i)] = round * 100000 + t * 10000 + i;
      MPI_Request request;
      switch (random.below(3)) {
        case 0:
          OK(MPI_Put(out.data(), count, MPI_INT, right(), at, count, MPI_INT, window));
          break;
        case 1:
          OK(MPI_Accumulate(out.data(), count, MPI_INT, right(), at, count, MPI_INT, MPI_REPLACE, window));
          break;
        default:
          OK(MPI_Rput(out.data(), count, MPI_INT, right(), at, count, MPI_INT, window, &request));
          threads::random_delay(random);
          OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      }
      OK(random.one_in(4) ? MPI_Win_flush_all(window) : MPI_Win_flush(right(), window));
      std::fill(in.begin(), in.end(), -1);
      if (random.one_in(2)) {
        OK(MPI_Get(in.data(), count, MPI_INT, right(), at, count, MPI_INT, window));
        OK(random.one_in(2) ? MPI_Win_flush_local(right(), window) : MPI_Win_flush(right(), window));
      } else {
        OK(MPI_Rget(in.data(), count, MPI_INT, right(), at, count, MPI_INT, window, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      }
      EXPECT(std::equal(in.begin(), in.begin() + count, out.begin()), "thread %d, round %d: %d of %d, not %d", t, round,
             in[0], count, out[0]);
      watch->moved();
    }
    // The last thing is the same in all of the part.
    std::fill(out.begin(), out.end(), 1000 * rank + t);
    OK(MPI_Put(out.data(), part, MPI_INT, right(), t * part, part, MPI_INT, window));
    OK(MPI_Win_flush(right(), window));
  });
  windows::meet(window);
  for (int t = 0; t < thread_count; ++t) {
    const int* from = window.data() + t * part;
    EXPECT(std::count(from, from + part, 1000 * left() + t) == part, "part %d: %d", t, from[0]);
  }
  OK(MPI_Win_unlock_all(window));
}

// All threads of all ranks add to the same places; each kind of call has its own sum.
void sums() {
  Window<int64_t> window(4);
  OK(MPI_Win_lock_all(0, window));
  const int rounds = threads::scaled(60);
  std::vector<std::vector<int64_t>> drawn(static_cast<size_t>(thread_count));
  in_threads([&](int t) {
    const int64_t one = 1;
    for (int round = 0; round < rounds; ++round) {
      int64_t ticket = -1, found = -1, more = 0;
      MPI_Request requests[2];
      OK(MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, 0, MPI_SUM, window));
      OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, MPI_SUM, window));
      OK(MPI_Raccumulate(&one, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, MPI_SUM, window, &requests[0]));
      OK(MPI_Rget_accumulate(&one, 1, MPI_INT64_T, &found, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, MPI_SUM, window,
                             &requests[1]));
      OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
      EXPECT(found >= 0, "%ld", static_cast<long>(found));
      OK(MPI_Win_flush(0, window));
      EXPECT(ticket >= 0, "%ld", static_cast<long>(ticket));
      drawn[static_cast<size_t>(t)].push_back(ticket);
      // Adds one by compare-and-swap: as often as it takes.
      OK(MPI_Fetch_and_op(nullptr, &found, MPI_INT64_T, 0, 3, MPI_NO_OP, window));
      OK(MPI_Win_flush(0, window));
      for (int64_t expected = -1; expected != found;) {
        expected = found;
        more = expected + 1;
        OK(MPI_Compare_and_swap(&more, &expected, &found, MPI_INT64_T, 0, 3, window));
        OK(MPI_Win_flush(0, window));
      }
      watch->moved();
    }
  });
  windows::meet(window);
  const int64_t all = int64_t{rounds} * thread_count * size;
  if (rank == 0) {
    EXPECT(window[0] == all && window[1] == all && window[2] == 2 * all && window[3] == all,
           "%ld, %ld, %ld and %ld of %ld", static_cast<long>(window[0]), static_cast<long>(window[1]),
           static_cast<long>(window[2]), static_cast<long>(window[3]), static_cast<long>(all));
  }
  OK(MPI_Win_unlock_all(window));
  std::vector<int64_t> mine, together(static_cast<size_t>(all));
  for (const auto& some : drawn) mine.insert(mine.end(), some.begin(), some.end());
  const int count = static_cast<int>(mine.size());
  MPI_Allgather(mine.data(), count, MPI_INT64_T, together.data(), count, MPI_INT64_T, MPI_COMM_WORLD);
  std::sort(together.begin(), together.end());
  for (int64_t i = 0; i < all; ++i) {
    EXPECT(together[static_cast<size_t>(i)] == i, "ticket %ld is %ld", static_cast<long>(i),
           static_cast<long>(together[static_cast<size_t>(i)]));
  }
}

// A window for each thread: exclusive locks around a get and a put, then fences, which are collective.
void window_for_each() {
  const int rounds = threads::scaled(15);
  std::vector<MPI_Comm> comms(static_cast<size_t>(thread_count));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  in_threads([&](int t) {
    MPI_Comm comm = comms[static_cast<size_t>(t)];
    Window<int> window(2, 0, MPI_INFO_NULL, comm);
    for (int round = 0; round < rounds; ++round) {
      int value = -1;
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
      OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
      OK(MPI_Win_flush(0, window));
      ++value;
      OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
      OK(MPI_Win_unlock(0, window));
      watch->moved();
    }
    MPI_Barrier(comm);
    if (rank == 0) {
      OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
      EXPECT(window[0] == rounds * size, "thread %d: %d, not %d", t, window[0], rounds * size);
      OK(MPI_Win_unlock(0, window));
    }
    MPI_Barrier(comm);
    OK(MPI_Win_fence(0, window));
    for (int round = 0; round < rounds; ++round) {
      const int value = 1000 * round + 10 * rank + t;
      OK(MPI_Put(&value, 1, MPI_INT, right(), 1, 1, MPI_INT, window));
      OK(MPI_Win_fence(0, window));
      EXPECT(window[1] == 1000 * round + 10 * left() + t, "thread %d, round %d: %d", t, round, window[1]);
      OK(MPI_Win_fence(0, window));
      watch->moved();
    }
  });
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

// Threads lock targets of one window at the same time, each its own target.
void targets_of_one_window() {
  const int locking = std::min(thread_count, size), rounds = threads::scaled(20);
  Window<int> window(static_cast<size_t>(size));
  in_threads([&](int t) {
    if (t >= locking) return;
    const int target = (rank + t) % size, one = 1;
    for (int round = 0; round < rounds; ++round) {
      OK(MPI_Win_lock(round % 2 == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, window));
      OK(MPI_Accumulate(&one, 1, MPI_INT, target, rank, 1, MPI_INT, MPI_SUM, window));
      OK(MPI_Win_unlock(target, window));
      watch->moved();
    }
  });
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
  for (int r = 0; r < size; ++r) {
    const int wanted = (rank - r + size) % size < locking ? rounds : 0;
    EXPECT(window[static_cast<size_t>(r)] == wanted, "%d of rank %d, not %d", window[static_cast<size_t>(r)], r,
           wanted);
  }
  OK(MPI_Win_unlock(rank, window));
}

// A thread whose first operation on a target waits for that target's lock keeps no other thread from other targets: the
// holder gives the lock back only after it has heard from one of these.
void locked_elsewhere() {
  if (size == 1) return;
  const int rounds = threads::scaled(10);
  for (int round = 0; round < rounds; ++round) {
    Window<int> window(2);
    if (rank == 1) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window));
      MPI_Barrier(MPI_COMM_WORLD);
      OK(MPI_Recv(nullptr, 0, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      OK(MPI_Win_unlock(1, window));
    } else {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
      OK(MPI_Win_lock_all(0, window));
      const auto put = [&](int target, int place) {
        OK(MPI_Put(&round, 1, MPI_INT, target, place, 1, MPI_INT, window));
        OK(MPI_Win_flush(target, window));
      };
      std::atomic<bool> begun = false;
      std::thread waits([&] {
        begun = true;
        put(1, 0);
      });
      while (!begun) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // likely, it waits now
      std::thread also([&] { put(1, 1); });
      put(0, 0);
      OK(MPI_Send(nullptr, 0, MPI_INT, 1, 9, MPI_COMM_WORLD));
      waits.join();
      also.join();
      OK(MPI_Win_unlock_all(window));
    }
    windows::meet(window);
    EXPECT(rank > 1 || window[0] == round, "round %d: %d", round, window[0]);
    EXPECT(rank != 1 || window[1] == round, "round %d: %d", round, window[1]);
    watch->moved();
  }
}

// One thread makes and frees windows while the others use one.
void windows_come_and_go() {
  Window<int64_t> window(1);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int rounds = threads::scaled(20);
  OK(MPI_Win_lock_all(0, window));
  in_threads([&](int t) {
    const int64_t one = 1;
    for (int round = 0; round < rounds; ++round) {
      if (t == 0) {
        Window<int> other(10, -1, MPI_INFO_NULL, comm);
        OK(MPI_Win_fence(0, other));
        OK(MPI_Put(&round, 1, MPI_INT, right(), 5, 1, MPI_INT, other));
        OK(MPI_Win_fence(0, other));
        EXPECT(other[5] == round, "round %d: %d", round, other[5]);
      } else {
        for (int i = 0; i < 5; ++i)
          OK(MPI_Accumulate(&one, 1, MPI_INT64_T, right(), 0, 1, MPI_INT64_T, MPI_SUM, window));
        OK(MPI_Win_flush(right(), window));
      }
      watch->moved();
    }
  });
  windows::meet(window);
  EXPECT(window[0] == int64_t{5} * rounds * (thread_count - 1), "%ld", static_cast<long>(window[0]));
  OK(MPI_Win_unlock_all(window));
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  if (argc > 1) thread_count = atoi(argv[1]);
  threads::Watch watcher(40, [] { return std::string("threads of windows"); });
  watch = &watcher;
  parts_of_one_window();
  sums();
  window_for_each();
  targets_of_one_window();
  locked_elsewhere();
  windows_come_and_go();
  return expect::finish();
}
