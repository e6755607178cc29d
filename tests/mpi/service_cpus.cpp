// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// The library's own threads (progress, copies) have the reserved core to themselves; without one they have all
// processors of the rank, also where an OpenMP runtime has bound the program's first thread to one of them.

#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

cpu_set_t mask_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(thread, sizeof set, &set) != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  return set;
}

struct Thread {
  std::string name;
  cpu_set_t mask;
};

std::vector<Thread> threads_of_library() {
  std::vector<Thread> threads;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = folder != nullptr ? readdir(folder) : nullptr) {
    std::string name;
    std::ifstream file(std::string("/proc/self/task/") + entry->d_name + "/comm");
    std::getline(file, name);
    if (name.rfind("weft-", 0) == 0) threads.push_back({name, mask_of(atoi(entry->d_name))});
  }
  if (folder != nullptr) closedir(folder);
  return threads;
}

// Empty: nothing. `all`: threads have the whole set; otherwise nothing of it.
std::string wrong_with(const std::vector<Thread>& threads, const cpu_set_t& set, bool all) {
  bool progress = false, copy = false;
  for (const Thread& thread : threads) {
    progress |= thread.name == "weft-progress";
    copy |= thread.name == "weft-copy";
    cpu_set_t common;
    CPU_AND(&common, &thread.mask, &set);
    if (all ? CPU_EQUAL(&thread.mask, &set) : CPU_COUNT(&common) == 0) continue;
    return thread.name + " has " + std::to_string(CPU_COUNT(&thread.mask)) + " processors, " +
           std::to_string(CPU_COUNT(&common)) + " of them the rank's";
  }
  return progress && copy ? "" : "a thread for progress or copies is missing";
}

// An OpenMP runtime does so before main().
void bind_to_first(const cpu_set_t& all) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  sched_setaffinity(0, sizeof one, &one);
}

// To another rank's memory, which is what the threads for copies help with.
void copy_much(int neighbour) {
  constexpr int bytes = 1 << 20;
  char* memory = nullptr;
  MPI_Win win;
  MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  std::vector<char> from(bytes, 'x');
  MPI_Win_fence(0, win);
  MPI_Put(from.data(), bytes, MPI_CHAR, neighbour, 0, bytes, MPI_CHAR, win);
  MPI_Win_fence(0, win);
  if (memory[bytes - 1] != 'x') MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Win_free(&win);
}

}  // namespace

int main(int argc, char** argv) {
  const bool openmp = argc > 1 && strcmp(argv[1], "openmp") == 0;
  cpu_set_t whole = mask_of(0);
  if (openmp) {
    setenv("OMP_PROC_BIND", "close", 1);
    bind_to_first(whole);
  }
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  copy_much((rank + 1) % size);
  if (!openmp) whole = mask_of(0);
  // A thread that has just been made may not have gone there yet.
  constexpr int patience_ms = 10000;
  std::string wrong = "not looked at";
  for (int ms = 0; ms < patience_ms && !wrong.empty(); ++ms) {
    wrong = wrong_with(threads_of_library(), whole, openmp);
    if (!wrong.empty()) usleep(1000);
  }
  if (!wrong.empty()) printf("rank %d: %s\n", rank, wrong.c_str());
  MPI_Finalize();
  return wrong.empty() ? 0 : 1;
}
