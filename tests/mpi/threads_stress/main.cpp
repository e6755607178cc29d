// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Many threads of many ranks send each other everything, by chance from a seed: sizes, tags, communicators, blocking,
// nonblocking, persistent and partitioned; receives with and without wildcards, probes, cancels; all calls of
// completion, by the thread that issued a request or by another. Every message is checked: its bytes, that it came
// where it was sent, and that it came in order. At the end nothing is missing and nothing left.
//
// usage: threads_stress [--seconds S] [--threads T] [--seed N] [--soak] [--no-partitioned] [--windows]
//   --soak runs for S seconds in turns of 20, each with a seed of its own; a turn that fails says how to repeat it. The
//   memory of a rank must stay as it is after the second turn.
//   --windows has two more threads of each rank put, get and count in one window.
#include <algorithm>
#include <memory>
#include <vector>

#include "threads_stress/windows.hpp"
#include "threads_stress/worker.hpp"

using namespace stress;

namespace {

void expect_nothing_left(MPI_Comm& comm, uint64_t seed) {
  int flag = 0;
  MPI_Status status;
  OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status));
  EXPECT(!flag, "a message of %d, tag %d, was left; seed %llu", status.MPI_SOURCE, status.MPI_TAG,
         static_cast<unsigned long long>(seed));
  MPI_Comm_free(&comm);
}

// In the memory of this process, in MiB.
long resident() {
  long pages = 0;
  if (FILE* file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
    fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE) >> 20;
}

void run_turn(uint64_t seed, double seconds, bool with_parts, bool with_windows, bool talk) {
  Turn turn;
  turn.seed = seed;
  turn.with_parts = with_parts;
  turn.working = thread_count;
  turn.shared_ends = size * thread_count;
  for (MPI_Comm* comm : {&turn.pairs, &turn.tags, &turn.everybody, &turn.parted}) MPI_Comm_dup(MPI_COMM_WORLD, comm);
  for (int i = 0; i < thread_count; ++i) {
    turn.by_source.emplace_back();
    MPI_Comm_dup(MPI_COMM_WORLD, &turn.by_source.back());
    turn.by_any.emplace_back();
    MPI_Comm_dup(MPI_COMM_WORLD, &turn.by_any.back());
  }
  std::unique_ptr<Windows> windows;
  if (with_windows) windows = std::make_unique<Windows>(seed);
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < thread_count; ++i) workers.push_back(std::make_unique<Worker>(turn, i));
  {
    threads::Watch watch(60, [&] {
      std::string text = "seed " + std::to_string(seed) + ":";
      for (const auto& worker : workers) text += " " + worker->state() + ",";
      return text + " still working: " + std::to_string(turn.working);
    });
    turn.watch = &watch;
    turn.end = threads::now() + seconds;
    std::vector<std::thread> running;
    for (const auto& worker : workers) running.emplace_back([&worker] { worker->run(); });
    if (with_windows) windows->open();
    for (int i = 0; with_windows && i < Windows::threads; ++i) {
      running.emplace_back([&windows, &turn, i] { windows->run(i, turn.end); });
    }
    for (std::thread& t : running) t.join();
    if (with_windows) windows->close();
    watch.moved();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const uint64_t puts = with_windows ? windows->finish() : 0;
  EXPECT(turn.box.empty(), "%zu tasks were left", turn.box.size());
  EXPECT(turn.shared_got == turn.shared_wanted && turn.shared_sum == turn.shared_wanted_sum,
         "all threads together got %llu messages of %llu; seed %llu", static_cast<unsigned long long>(turn.shared_got),
         static_cast<unsigned long long>(turn.shared_wanted), static_cast<unsigned long long>(seed));
  uint64_t mine[6] = {turn.sent, turn.got, turn.bytes, turn.cancels, turn.lent, turn.partitions}, all[6];
  MPI_Allreduce(mine, all, 6, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(all[0] == all[1], "%llu messages were sent, %llu came; seed %llu", static_cast<unsigned long long>(all[0]),
         static_cast<unsigned long long>(all[1]), static_cast<unsigned long long>(seed));
  for (MPI_Comm* comm : {&turn.pairs, &turn.tags, &turn.everybody}) expect_nothing_left(*comm, seed);
  for (MPI_Comm& comm : turn.by_source) expect_nothing_left(comm, seed);
  for (MPI_Comm& comm : turn.by_any) expect_nothing_left(comm, seed);
  MPI_Comm_free(&turn.parted);
  if (talk) {
    printf(
        "seed %llu: %llu messages, %.1f MB, %llu cancels, %llu requests completed by another thread, %llu partitions, "
        "%llu puts, %ld MiB resident\n",
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(all[0]),
        static_cast<double>(all[2]) * 1e-6, static_cast<unsigned long long>(all[3]),
        static_cast<unsigned long long>(all[4]), static_cast<unsigned long long>(all[5]),
        static_cast<unsigned long long>(puts), resident());
    fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  double seconds = 4;
  uint64_t seed = 0;
  bool soak = false, with_parts = true, with_windows = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "0";
    if (option == "--soak") {
      soak = true;
    } else if (option == "--no-partitioned") {
      with_parts = false;
    } else if (option == "--windows") {
      with_windows = true;
    } else if (option == "--seconds") {
      seconds = strtod(value, nullptr), ++i;
    } else if (option == "--threads") {
      thread_count = std::clamp(atoi(value), 1, 32), ++i;
    } else if (option == "--seed") {
      seed = strtoull(value, nullptr, 10), ++i;
    } else {
      fprintf(stderr, "threads_stress: what is %s?\n", argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  if (seed == 0) seed = static_cast<uint64_t>(threads::now() * 1e6) % 1000000007;
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  seconds *= threads::scale();
  const double begin = threads::now();
  constexpr long most_growth = 64;  // MiB
  long after_second = 0;
  for (int turn = 1;; ++turn) {
    const double left = seconds - (threads::now() - begin);
    if (rank == 0) {
      printf("threads_stress --seconds %.0f --threads %d --seed %llu%s%s, on %d ranks\n", soak ? 20 : seconds,
             thread_count, static_cast<unsigned long long>(seed), with_parts ? "" : " --no-partitioned",
             with_windows ? " --windows" : "", size);
      fflush(stdout);
    }
    run_turn(seed, soak ? std::min(20.0, std::max(left, 1.0)) : seconds, with_parts, with_windows, rank == 0);
    const long now = resident();
    if (turn == 2) after_second = now;
    EXPECT(turn <= 2 || now <= after_second + most_growth, "%ld MiB in memory, %ld after the second turn", now,
           after_second);
    int state[2] = {expect::failures > 0, threads::now() - begin > seconds}, all[2];
    MPI_Allreduce(state, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (all[0] != 0 && rank == 0) fprintf(stderr, "failed with seed %llu\n", static_cast<unsigned long long>(seed));
    if (!soak || all[0] != 0 || all[1] != 0) break;
    ++seed;
  }
  return expect::finish();
}
