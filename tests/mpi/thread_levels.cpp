// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Threads at a level below MPI_THREAD_MULTIPLE: calls that the level forbids, which WEFT_CHECK=threads ends the job at
// (the test's row matches its message), and all that it allows.
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "expect.hpp"

namespace {

constexpr int rounds = 1000;

int level_of(const char* word) {
  if (strcmp(word, "single") == 0) return MPI_THREAD_SINGLE;
  if (strcmp(word, "funneled") == 0) return MPI_THREAD_FUNNELED;
  return strcmp(word, "serialized") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
}

// One thread waits for a message from another, which makes calls and sends it last. Where calls are checked, the first
// one that finds the waiting thread ends the job; the time is for builds that do not find it.
void call_beside_a_receive(std::chrono::seconds longest) {
  std::thread waiting([] {
    int got = 0;
    MPI_Recv(&got, 1, MPI_INT, expect::rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(got == 7, "%d", got);
  });
  const auto end = std::chrono::steady_clock::now() + longest;
  do {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  } while (std::chrono::steady_clock::now() < end);
  const int seven = 7;
  MPI_Send(&seven, 1, MPI_INT, expect::rank, 1, MPI_COMM_WORLD);
  waiting.join();
}

void call_from_another_thread() {
  std::thread([] {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }).join();
}

// A call of MPI inside another one of the same thread.
int call_in_copy(MPI_Comm comm, int, void*, void*, void*, int* flag) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  *flag = 0;
  return MPI_SUCCESS;
}

void take_turns() {
  std::mutex turn;
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(call_in_copy, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &turn);
  const auto work = [&](int tag) {
    for (int i = 0; i < rounds; ++i) {
      const std::lock_guard guard(turn);
      int got = -1;
      MPI_Sendrecv(&i, 1, MPI_INT, expect::rank, tag, &got, 1, MPI_INT, expect::rank, tag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      EXPECT(got == i, "%d instead of %d", got, i);
      if (i % 100 != 0) continue;
      MPI_Comm dup;
      MPI_Comm_dup(MPI_COMM_SELF, &dup);
      MPI_Comm_free(&dup);
    }
  };
  std::thread first(work, 1), second(work, 2);
  first.join();
  second.join();
  MPI_Comm_free_keyval(&keyval);
}

// While the main thread waits in a receive, another one makes calls that are allowed at any time.
void ask_beside_a_receive() {
  std::atomic<bool> end = false;
  std::thread asking([&] {
    while (!end.load()) {
      int flag = 0, level = 0, sub = 0;
      MPI_Initialized(&flag);
      MPI_Finalized(&flag);
      MPI_Is_thread_main(&flag);
      MPI_Query_thread(&level);
      MPI_Get_version(&level, &sub);
      MPI_Wtime();
      MPI_Info info = MPI_INFO_NULL;
      MPI_Info_create(&info);
      MPI_Info_free(&info);
    }
  });
  const int partner = expect::rank ^ 1;
  for (int i = 0; i < rounds; ++i) {
    int got = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, partner, 0, &got, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(got == i, "%d instead of %d", got, i);
  }
  end.store(true);
  asking.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int provided = -1;
  const int level = level_of(argv[1]);
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);
  EXPECT(provided >= level, "level %d is provided", provided);
  constexpr std::chrono::seconds not_found(20);
  if (strcmp(argv[2], "at_once") == 0)
    call_beside_a_receive(level == MPI_THREAD_MULTIPLE ? std::chrono::seconds(0) : not_found);
  if (strcmp(argv[2], "other") == 0) call_from_another_thread();
  if (strcmp(argv[2], "turns") == 0) take_turns();
  if (strcmp(argv[2], "asks") == 0) ask_beside_a_receive();
  return expect::finish();
}
