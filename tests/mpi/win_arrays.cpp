// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Arrays and single elements of one window updated at the same time: no update is lost, also while the first array
// changes the way in which elements are updated. Windows with and without memory of MPI's own, layouts with gaps,
// pairs, elements of 1 to 16 bytes, several threads.
//
// usage: win_arrays [threads]; without: at MPI_THREAD_SINGLE
#include <functional>
#include <vector>

#include "threads.hpp"
#include "windows.hpp"

using expect::rank;
using expect::size;
using threads::Random;

namespace {

int thread_count = 1;
constexpr int count = 40000;  // elements: beyond a block of memory that shares a lock

template <class T>
struct Shared {
  explicit Shared(bool allocated) : own(allocated ? 0 : count) {
    if (allocated) {
      OK(MPI_Win_allocate(count * sizeof(T), sizeof(T), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    } else {
      memory = own.data();
      OK(MPI_Win_create(memory, count * sizeof(T), sizeof(T), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    }
    OK(MPI_Win_lock_all(0, window));
    std::fill(memory, memory + count, T{});
    meet();
  }
  ~Shared() {
    OK(MPI_Win_unlock_all(window));
    OK(MPI_Win_free(&window));
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  void meet() const {
    OK(MPI_Win_flush_all(window));
    OK(MPI_Win_sync(window));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_sync(window));
  }

  std::vector<T> own;
  T* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
};

void in_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> running;
  for (int t = 1; t < thread_count; ++t) running.emplace_back([&, t] { work(t); });
  work(0);
  for (std::thread& t : running) t.join();
}

// All ranks add ones to the memory of rank 0: some to one element again and again, some to all of them.
template <class T>
void adds(MPI_Datatype type, bool allocated, int turn) {
  Shared<T> shared(allocated);
  const std::vector<T> ones(count, T{1});
  const int many = 30;
  const int arrays = 3;
  in_threads([&](int t) {
    const bool adds_arrays = (rank + t + turn) % 2 == 0;
    const int at = turn % count;
    for (int i = 0; i < many; ++i) {
      T old{};
      if (adds_arrays && i < arrays) {
        OK(MPI_Accumulate(ones.data(), count, type, 0, 0, count, type, MPI_SUM, shared.window));
      } else if (i % 2 == 0) {
        OK(MPI_Fetch_and_op(ones.data(), &old, type, 0, at, MPI_SUM, shared.window));
      } else {
        OK(MPI_Accumulate(ones.data(), 1, type, 0, at, 1, type, MPI_SUM, shared.window));
      }
      OK(MPI_Win_flush(0, shared.window));
    }
  });
  shared.meet();
  if (rank != 0) return;
  int whole = 0;
  for (int r = 0; r < size; ++r) {
    for (int t = 0; t < thread_count; ++t) whole += (r + t + turn) % 2 == 0 ? arrays : 0;
  }
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const int expected = i == turn % count ? many * size * thread_count : whole;
    if (shared.memory[i] != static_cast<T>(expected)) ++wrong;
  }
  EXPECT(wrong == 0, "%d elements are wrong", wrong);
}

// A small array as a whole and its elements one by one, as often as they can.
void meets_often() {
  constexpr int few = 256;
  const int rounds = threads::scaled(20000);
  Shared<int> shared(true);
  const std::vector<int> ones(few, 1);
  in_threads([&](int t) {
    const bool adds_arrays = (rank + t) % 2 == 0;
    for (int i = 0; i < rounds; ++i) {
      if (adds_arrays) {
        OK(MPI_Accumulate(ones.data(), few, MPI_INT, 0, 0, few, MPI_INT, MPI_SUM, shared.window));
      } else {
        int old = 0;
        OK(MPI_Fetch_and_op(ones.data(), &old, MPI_INT, 0, 7, MPI_SUM, shared.window));
      }
    }
  });
  shared.meet();
  if (rank == 0)
    EXPECT(shared.memory[7] == rounds * size * thread_count, "%d additions are lost",
           rounds * size * thread_count - shared.memory[7]);
}

// Every second element, whole arrays of pairs, and swaps, against additions of one element.
void layouts(bool allocated) {
  struct Pair {
    double value;
    int index;
  };
  Shared<Pair> pairs(allocated);
  std::vector<Pair> mine(count);
  for (int i = 0; i < count; ++i) mine[static_cast<size_t>(i)] = {static_cast<double>((i + rank) % size + 1), rank};
  OK(MPI_Accumulate(mine.data(), count, MPI_DOUBLE_INT, 0, 0, count, MPI_DOUBLE_INT, MPI_MAXLOC, pairs.window));
  pairs.meet();
  int wrong = 0;
  for (int i = 0; rank == 0 && i < count; ++i) {
    if (pairs.memory[i].value != size || (i + pairs.memory[i].index) % size != size - 1) ++wrong;
  }
  EXPECT(wrong == 0, "%d pairs are wrong", wrong);

  Shared<int> sums(allocated);
  MPI_Datatype second;
  OK(MPI_Type_vector(count / 2, 1, 2, MPI_INT, &second));
  OK(MPI_Type_commit(&second));
  const std::vector<int> ones(count, 1);
  std::vector<int> old(count);
  for (int i = 0; i < 4; ++i) {
    OK(MPI_Get_accumulate(ones.data(), count / 2, MPI_INT, old.data(), 1, second, 0, 0, 1, second, MPI_SUM,
                          sums.window));
    OK(MPI_Win_flush(0, sums.window));
    EXPECT(old[0] >= i && old[0] < 4 * size, "%d was there", old[0]);
  }
  const int from = 0;
  int found = -1;
  OK(MPI_Compare_and_swap(&ones[0], &from, &found, MPI_INT, 0, 1, sums.window));
  sums.meet();
  for (int i = 0; rank == 0 && i < count; ++i) {
    const int expected = i == 1 ? 1 : i % 2 == 0 ? 4 * size : 0;
    if (sums.memory[i] != expected) ++wrong;
  }
  EXPECT(wrong == 0, "%d elements of a vector are wrong", wrong);
  OK(MPI_Type_free(&second));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    thread_count = atoi(argv[1]);
    threads::start(&argc, &argv);
  } else {
    windows::start(&argc, &argv);
  }
  for (int turn = 0; turn < 24; ++turn) {
    const bool allocated = turn % 4 != 3;
    adds<int>(MPI_INT, allocated, turn);
    adds<signed char>(MPI_SIGNED_CHAR, allocated, turn);
    adds<double>(MPI_DOUBLE, allocated, turn);
    if (turn % 8 == 0) adds<long double>(MPI_LONG_DOUBLE, allocated, turn);
  }
  meets_often();
  layouts(true);
  layouts(false);
  return expect::finish();
}
