// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations that end while a rank they need computes: it starts its part, then makes no call of MPI until the last
// rank has put a word into its memory, which says that all other parts are over. Without a progress thread
// (WEFT_PROGRESS) no case ends.
//
// usage: progress_alone [rounds]
#include <atomic>
#include <cstdlib>
#include <vector>

#include "expect.hpp"

namespace {

using Word = std::atomic<int>;
constexpr int large = 300000;

Word word;  // in `words`
MPI_Win words;
int turn = 0;

// All but the last rank; the last one has tell().
bool computes() {
  return expect::rank != expect::size - 1;
}
void compute() {
  while (word.load(std::memory_order_acquire) != turn) {
  }
}
void tell() {
  for (int to = 0; to + 1 < expect::size; ++to) MPI_Put(&turn, 1, MPI_INT, to, 0, 1, MPI_INT, words);
  MPI_Win_flush_all(words);
}
void begin() {
  ++turn;
  MPI_Barrier(MPI_COMM_WORLD);
}

unsigned char byte_of(int salt, int i) {
  return static_cast<unsigned char>(salt * 31 + i * 7 + i / 251);
}

// A synchronous send to each of them; `step` 2: with gaps at the receiver.
void receives_are_matched_and_filled(int step) {
  begin();
  std::vector<unsigned char> data(static_cast<size_t>(large * step), 0xee);
  MPI_Datatype type = MPI_BYTE;
  MPI_Type_vector(large, 1, step, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Request request = MPI_REQUEST_NULL;
  if (computes()) {
    MPI_Irecv(data.data(), 1, type, expect::size - 1, 1, MPI_COMM_WORLD, &request);
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int i = 0;
    while (i < large && data[static_cast<size_t>(i * step)] == byte_of(turn, i)) ++i;
    EXPECT(i == large, "step %d: byte %d is wrong", step, i);
  } else {
    for (int i = 0; i < large; ++i) data[static_cast<size_t>(i * step)] = byte_of(turn, i);
    for (int to = 0; to + 1 < expect::size; ++to) MPI_Ssend(data.data(), 1, type, to, 1, MPI_COMM_WORLD);
    tell();
  }
  MPI_Type_free(&type);
}

void sends_leave() {
  begin();
  std::vector<unsigned char> data(large);
  if (computes()) {
    for (int i = 0; i < large; ++i) data[static_cast<size_t>(i)] = byte_of(expect::rank + turn, i);
    MPI_Request request;
    MPI_Issend(data.data(), large, MPI_BYTE, expect::size - 1, 2, MPI_COMM_WORLD, &request);
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  for (int from = 0; from + 1 < expect::size; ++from) {
    MPI_Recv(data.data(), large, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int i = 0;
    while (i < large && data[static_cast<size_t>(i)] == byte_of(from + turn, i)) ++i;
    EXPECT(i == large, "byte %d from %d is wrong", i, from);
  }
  tell();
}

void collectives_go_on(int count) {
  begin();
  std::vector<double> in(static_cast<size_t>(count), expect::rank + turn), out(static_cast<size_t>(count));
  MPI_Request request;
  MPI_Iallreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  if (computes()) {
    compute();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell();
  }
  const double sum = expect::size * (expect::size - 1) / 2.0 + static_cast<double>(expect::size) * turn;
  for (double value : out) EXPECT(value == sum, "%g, not %g", value, sum);
}

void windows_are_served(MPI_Win window, long* memory) {
  begin();
  if (computes()) return compute();
  for (int to = 0; to + 1 < expect::size; ++to) {
    const long one = 1, value = turn;
    long old = -1, got = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
    MPI_Put(&value, 1, MPI_LONG, to, 0, 1, MPI_LONG, window);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, to, 1, MPI_SUM, window);
    MPI_Win_flush(to, window);
    MPI_Get(&got, 1, MPI_LONG, to, 0, 1, MPI_LONG, window);
    MPI_Win_unlock(to, window);
    EXPECT(got == turn, "read %ld, not %d", got, turn);
    EXPECT(old == memory[1], "fetched %ld, not %ld", old, memory[1]);
  }
  ++memory[1];
  tell();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  EXPECT(provided == MPI_THREAD_FUNNELED, "thread level %d", provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);
  counters_start();
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  MPI_Win window;
  static_assert(sizeof word == sizeof(int));
  MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &words);
  MPI_Win_lock_all(0, words);
  long memory[2] = {};
  MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int round = 0; round < rounds; ++round) {
    receives_are_matched_and_filled(1);
    receives_are_matched_and_filled(2);
    sends_leave();
    collectives_go_on(1);
    collectives_go_on(20000);
    windows_are_served(window, memory);
  }
  MPI_Win_free(&window);
  MPI_Win_unlock_all(words);
  MPI_Win_free(&words);
  return expect::finish();
}
