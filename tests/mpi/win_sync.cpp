// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Synchronization of windows (MPI-5.0, 12.5): fences, groups that post and start, locks, flushes; and that locks
// exclude.
#include <algorithm>
#include <vector>

#include "windows.hpp"

using expect::rank;
using expect::size;
using windows::left;
using windows::right;
using windows::Window;

namespace {

MPI_Group group_of(const std::vector<int>& ranks) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Group_free(&world);
  return group;
}

// All ranks but one, or all of them.
std::vector<int> others(int without = -1) {
  std::vector<int> result;
  for (int r = 0; r < size; ++r) {
    if (r != without) result.push_back(r);
  }
  return result;
}

// ---- fences

void fences() {
  Window<int> window(static_cast<size_t>(size), -1);
  OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
  for (int round = 0; round < 20; ++round) {
    const int value = 100 * round + rank;
    for (int r = 0; r < size; ++r) OK(MPI_Put(&value, 1, MPI_INT, r, rank, 1, MPI_INT, window));
    // No puts follow, and what follows are loads.
    OK(MPI_Win_fence(MPI_MODE_NOPUT, window));
    for (int r = 0; r < size; ++r) {
      EXPECT(window[static_cast<size_t>(r)] == 100 * round + r, "round %d, rank %d: %d", round, r,
             window[static_cast<size_t>(r)]);
    }
    int got = -1;
    OK(MPI_Get(&got, 1, MPI_INT, right(), left(), 1, MPI_INT, window));
    // Nothing was stored since the last fence.
    OK(MPI_Win_fence(MPI_MODE_NOSTORE, window));
    EXPECT(got == 100 * round + left(), "round %d: %d", round, got);
  }
  OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, window));
}

// Stores and operations take turns between fences; a round that has neither.
void fences_and_stores() {
  Window<int> window(2);
  OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
  for (int round = 0; round < 10; ++round) {
    window[0] = 10 * round + rank;
    OK(MPI_Win_fence(MPI_MODE_NOPUT, window));
    int got = -1;
    OK(MPI_Get(&got, 1, MPI_INT, right(), 0, 1, MPI_INT, window));
    OK(MPI_Win_fence(0, window));
    EXPECT(got == 10 * round + right(), "round %d: %d", round, got);
    OK(MPI_Put(&got, 1, MPI_INT, right(), 1, 1, MPI_INT, window));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    EXPECT(window[1] == 10 * round + rank, "round %d: %d", round, window[1]);
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
  }
}

// ---- post, start, complete, wait

void ring_of_posts() {
  Window<int> window(1, -1);
  MPI_Group from = group_of({left()}), to = group_of({right()});
  for (int round = 0; round < 30; ++round) {
    const bool checked = round % 3 != 0;
    OK(MPI_Win_post(from, checked ? 0 : MPI_MODE_NOCHECK, window));
    if (!checked) MPI_Barrier(MPI_COMM_WORLD);  // with MPI_MODE_NOCHECK, the post must have been called
    OK(MPI_Win_start(to, checked ? 0 : MPI_MODE_NOCHECK, window));
    const int value = 100 * round + rank;
    OK(MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, window));
    OK(MPI_Win_complete(window));
    if (round % 2 == 0) {
      OK(MPI_Win_wait(window));
    } else {
      for (int flag = 0; flag == 0;) OK(MPI_Win_test(window, &flag));
    }
    EXPECT(window[0] == 100 * round + left(), "round %d: %d", round, window[0]);
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
}

// Each rank in turn is written by all others, then read by them.
void one_target_at_a_time() {
  Window<int> window(static_cast<size_t>(size), -1);
  for (int target = 0; target < size; ++target) {
    MPI_Group group = rank == target ? group_of(others(target)) : group_of({target});
    int value = 10 * target + rank, got = -1;
    if (rank == target) {
      OK(MPI_Win_post(group, MPI_MODE_NOSTORE, window));
      OK(MPI_Win_wait(window));
      for (int r : others(target))
        EXPECT(window[static_cast<size_t>(r)] == 10 * target + r, "%d", window[static_cast<size_t>(r)]);
      window[static_cast<size_t>(target)] = 5000 + target;
      OK(MPI_Win_post(group, MPI_MODE_NOPUT, window));
      OK(MPI_Win_wait(window));
    } else {
      OK(MPI_Win_start(group, 0, window));
      OK(MPI_Put(&value, 1, MPI_INT, target, rank, 1, MPI_INT, window));
      OK(MPI_Win_complete(window));
      OK(MPI_Win_start(group, 0, window));
      OK(MPI_Get(&got, 1, MPI_INT, target, target, 1, MPI_INT, window));
      OK(MPI_Win_complete(window));
      EXPECT(got == 5000 + target, "%d", got);
    }
    MPI_Group_free(&group);
  }
}

// All are both, with their own rank too; the groups name the ranks in different orders.
void all_to_all() {
  Window<int> window(static_cast<size_t>(size));
  std::vector<int> ranks = others();
  MPI_Group up = group_of(ranks);
  std::reverse(ranks.begin(), ranks.end());
  MPI_Group down = group_of(ranks);
  for (int round = 0; round < 5; ++round) {
    OK(MPI_Win_post(up, 0, window));
    OK(MPI_Win_start(down, 0, window));
    const int one = 1;
    for (int r = 0; r < size; ++r) {
      for (int i = 0; i < size; ++i) OK(MPI_Accumulate(&one, 1, MPI_INT, r, i, 1, MPI_INT, MPI_SUM, window));
    }
    OK(MPI_Win_complete(window));
    OK(MPI_Win_wait(window));
    for (int i = 0; i < size; ++i) {
      EXPECT(window[static_cast<size_t>(i)] == size * (round + 1), "round %d: %d", round,
             window[static_cast<size_t>(i)]);
    }
  }
  MPI_Group_free(&up);
  MPI_Group_free(&down);
}

void empty_groups() {
  Window<int> window(1, -1);
  for (int round = 0; round < 3; ++round) {
    int flag = 0;
    OK(MPI_Win_start(MPI_GROUP_EMPTY, 0, window));
    OK(MPI_Win_complete(window));
    OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, window));
    OK(MPI_Win_test(window, &flag));
    if (flag == 0) OK(MPI_Win_wait(window));
    OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, window));
    OK(MPI_Win_wait(window));
  }
}

// An exposure epoch and an access epoch that overlap: the ends come in the other order on some ranks.
void epochs_overlap() {
  Window<int> window(1, -1);
  MPI_Group from = group_of({left()}), to = group_of({right()});
  OK(MPI_Win_post(from, 0, window));
  int flag = 1;
  if (size > 1) {
    // The left rank has not started.
    OK(MPI_Win_test(window, &flag));
    EXPECT(flag == 0, "an exposure ended before any access");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  OK(MPI_Win_start(to, 0, window));
  OK(MPI_Put(&rank, 1, MPI_INT, right(), 0, 1, MPI_INT, window));
  OK(MPI_Win_complete(window));
  OK(MPI_Win_wait(window));
  EXPECT(window[0] == left(), "%d", window[0]);
  MPI_Group_free(&from);
  MPI_Group_free(&to);
}

// ---- locks

// get, add one, put under an exclusive lock: no count is lost. Then the other ways to get a turn.
void counter() {
  static constexpr int rounds = 40;
  Window<int> window(2);
  for (int i = 0; i < rounds; ++i) {
    int value = -1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
    OK(MPI_Win_flush(0, window));
    ++value;
    OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
    OK(MPI_Win_unlock(0, window));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int value = -1;
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
  OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
  OK(MPI_Win_unlock(0, window));
  EXPECT(value == size * rounds, "%d, not %d", value, size * rounds);
}

// The owner takes part by loads and stores under its own lock.
void counter_of_owner() {
  static constexpr int rounds = 30;
  Window<int> window(1);
  for (int i = 0; i < rounds; ++i) {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    if (rank == 0) {
      window[0] = window[0] + 1;
    } else {
      int value = -1;
      OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
      OK(MPI_Win_flush_local(0, window));
      ++value;
      OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
    }
    OK(MPI_Win_unlock(0, window));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    EXPECT(window[0] == size * rounds, "%d, not %d", window[0], size * rounds);
    OK(MPI_Win_unlock(0, window));
  }
}

// Writers change two places together; readers with shared locks must never see one of them alone.
void readers_and_writers() {
  static constexpr int apart = 1000;
  Window<int> window(apart + 1);
  for (int i = 0; i < 40; ++i) {
    const bool writes = (i + rank) % 3 == 0;
    OK(MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, window));
    int first = -1, second = -2, value = 1000 * rank + i;
    if (writes) {
      OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
      OK(MPI_Win_flush(0, window));
      OK(MPI_Put(&value, 1, MPI_INT, 0, apart, 1, MPI_INT, window));
    } else {
      OK(MPI_Get(&first, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
      OK(MPI_Win_flush(0, window));
      OK(MPI_Get(&second, 1, MPI_INT, 0, apart, 1, MPI_INT, window));
    }
    OK(MPI_Win_unlock(0, window));
    if (!writes) EXPECT(first == second, "%d and %d", first, second);
  }
}

// Locks of all targets, or of several at once, in other orders on each rank (shared ones: they do not exclude).
void locks_of_many_targets() {
  Window<int> window(static_cast<size_t>(size));
  for (int round = 0; round < 3; ++round) {
    const int one = 1;
    for (int i = 0; i < size; ++i) OK(MPI_Win_lock(MPI_LOCK_SHARED, (rank + i) % size, 0, window));
    for (int r = 0; r < size; ++r) OK(MPI_Accumulate(&one, 1, MPI_INT, r, rank, 1, MPI_INT, MPI_SUM, window));
    for (int i = 0; i < size; ++i) OK(MPI_Win_unlock((rank + 2 * size - i) % size, window));
    OK(MPI_Win_lock_all(round == 1 ? MPI_MODE_NOCHECK : 0, window));
    for (int r = 0; r < size; ++r) OK(MPI_Accumulate(&one, 1, MPI_INT, r, rank, 1, MPI_INT, MPI_SUM, window));
    OK(MPI_Win_unlock_all(window));
    // An exclusive lock of one target after another.
    for (int r = 0; r < size; ++r) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, window));
      OK(MPI_Accumulate(&one, 1, MPI_INT, r, rank, 1, MPI_INT, MPI_SUM, window));
      OK(MPI_Win_unlock(r, window));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));
    for (int r = 0; r < size; ++r) {
      EXPECT(window[static_cast<size_t>(r)] == 3 * (round + 1), "round %d: %d of rank %d", round,
             window[static_cast<size_t>(r)], r);
    }
    OK(MPI_Win_unlock(rank, window));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// All hold a shared lock of rank 0 at the same time, and a lock of no use is as good as any.
void shared_locks_together() {
  Window<int> window(1, 7);
  int value = -1;
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
  OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
  OK(MPI_Win_flush(0, window));
  EXPECT(value == 7, "%d", value);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_Win_unlock(0, window));
  for (const int type : {MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE}) {
    for (int r = 0; r < size; ++r) {
      OK(MPI_Win_lock(type, r, 0, window));
      OK(MPI_Win_unlock(r, window));
    }
  }
  OK(MPI_Win_lock_all(0, window));
  OK(MPI_Win_unlock_all(window));
  // With MPI_MODE_NOCHECK the program has made sure that nobody else wants it.
  for (int turn = 0; turn < size; ++turn) {
    if (turn == rank) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, window));
      OK(MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
      OK(MPI_Win_unlock(0, window));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    EXPECT(window[0] == size - 1, "%d", window[0]);
    OK(MPI_Win_unlock(0, window));
  }
}

// A lock of one window is none of another.
void locks_of_two_windows() {
  Window<int> one(1), other(1);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 10; ++i) {
    MPI_Win first = rank % 2 == 0 ? one : other, second = rank % 2 == 0 ? other : one;
    const int add = 1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, first));
    OK(MPI_Accumulate(&add, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, first));
    OK(MPI_Win_unlock(0, first));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, second));
    OK(MPI_Accumulate(&add, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, second));
    OK(MPI_Win_unlock(0, second));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, one));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, other));
    EXPECT(one[0] == 10 * size && other[0] == 10 * size, "%d and %d", one[0], other[0]);
    OK(MPI_Win_unlock(0, other));
    OK(MPI_Win_unlock(0, one));
  }
}

// ---- flushes

// After a flush the data is there: a rank that learns of it by a message finds it, and by all four kinds of flush the
// origin may use its memory again.
void flushes() {
  static constexpr int count = 5000;
  Window<int> window(count, -1);
  std::vector<int> out(count), in(count);
  OK(MPI_Win_lock_all(0, window));
  for (int round = 0; round < 12; ++round) {
    std::fill(out.begin(), out.end(), 100 * round + rank);
    OK(MPI_Put(out.data(), count, MPI_INT, right(), 0, count, MPI_INT, window));
    if (round % 4 == 0) OK(MPI_Win_flush(right(), window));
    if (round % 4 == 1) OK(MPI_Win_flush_all(window));
    if (round % 4 == 2) OK(MPI_Win_flush_local(right(), window));
    if (round % 4 == 3) OK(MPI_Win_flush_local_all(window));
    std::fill(out.begin(), out.end(), -5);
    if (round % 4 >= 2) OK(MPI_Win_flush(right(), window));
    MPI_Sendrecv(nullptr, 0, MPI_INT, right(), round, nullptr, 0, MPI_INT, left(), round, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    OK(MPI_Win_sync(window));
    const auto wrong = count - std::count(window.data(), window.data() + count, 100 * round + left());
    EXPECT(wrong == 0, "round %d: %ld elements are wrong, the first is %d", round, static_cast<long>(wrong), window[0]);
    OK(MPI_Get(in.data(), count, MPI_INT, rank, 0, count, MPI_INT, window));
    if (round % 2 == 0) OK(MPI_Win_flush_local(rank, window));
    if (round % 2 == 1) OK(MPI_Win_flush_local_all(window));
    EXPECT(std::equal(in.begin(), in.end(), window.data()), "round %d: %d", round, in[0]);
    windows::meet(window);
    std::fill(in.begin(), in.end(), -1);
    OK(MPI_Get(in.data(), count, MPI_INT, right(), 0, count, MPI_INT, window));
    OK(MPI_Win_flush_local(right(), window));
    EXPECT(std::count(in.begin(), in.end(), 100 * round + rank) == count, "round %d: %d", round, in[0]);
    // Stores are seen by those who get after both have synchronized.
    windows::meet(window);
    window[0] = 9000 + rank;
    windows::meet(window);
    int got = -1;
    OK(MPI_Get(&got, 1, MPI_INT, left(), 0, 1, MPI_INT, window));
    OK(MPI_Win_flush(left(), window));
    EXPECT(got == 9000 + left(), "round %d: %d", round, got);
    windows::meet(window);
  }
  OK(MPI_Win_unlock_all(window));
}

// A rank tells another of what it put into a third, and that one passes it on.
void passed_on() {
  Window<int> window(1, -1);
  const int home = size - 1;
  OK(MPI_Win_lock_all(0, window));
  for (int round = 0; round < 5; ++round) {
    int value = 0;
    if (rank > 0) {
      MPI_Recv(nullptr, 0, MPI_INT, left(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      OK(MPI_Get(&value, 1, MPI_INT, home, 0, 1, MPI_INT, window));
      OK(MPI_Win_flush(home, window));
      EXPECT(value == 100 * round + rank - 1, "round %d: %d", round, value);
    }
    value = 100 * round + rank;
    OK(MPI_Put(&value, 1, MPI_INT, home, 0, 1, MPI_INT, window));
    OK(MPI_Win_flush(home, window));
    if (rank < size - 1) MPI_Send(nullptr, 0, MPI_INT, right(), 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  OK(MPI_Win_unlock_all(window));
}

// A window that goes from one kind of epoch to another.
void mixed() {
  Window<int> window(1, -1);
  MPI_Group from = group_of({left()}), to = group_of({right()});
  for (int round = 0; round < 5; ++round) {
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
    int value = 10 * round + rank;
    OK(MPI_Put(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, window));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
    EXPECT(window[0] == 10 * round + left(), "%d", window[0]);
    OK(MPI_Win_post(from, 0, window));
    OK(MPI_Win_start(to, 0, window));
    const int more = 1000;
    OK(MPI_Accumulate(&more, 1, MPI_INT, right(), 0, 1, MPI_INT, MPI_SUM, window));
    OK(MPI_Win_complete(window));
    OK(MPI_Win_wait(window));
    EXPECT(window[0] == 1000 + 10 * round + left(), "%d", window[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    int got = -1;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, window));
    OK(MPI_Get(&got, 1, MPI_INT, right(), 0, 1, MPI_INT, window));
    OK(MPI_Win_unlock(right(), window));
    EXPECT(got == 1000 + 10 * round + rank, "%d", got);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
}

}  // namespace

int main(int argc, char** argv) {
  windows::start(&argc, &argv);
  fences();
  fences_and_stores();
  ring_of_posts();
  one_target_at_a_time();
  all_to_all();
  empty_groups();
  epochs_overlap();
  counter();
  counter_of_owner();
  readers_and_writers();
  locks_of_many_targets();
  shared_locks_together();
  locks_of_two_windows();
  flushes();
  passed_on();
  mixed();
  return expect::finish();
}
