// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize wakes a progress thread that sleeps, and does not wait until it wakes by itself. How long it takes is
// judged in a row with the label `timing`.
#include <dirent.h>
#include <sched.h>

#include <chrono>
#include <fstream>
#include <string>

#include "expect.hpp"

namespace {

// The state of the progress thread as the system shows it: S when it sleeps; 0 when there is none.
char state() {
  char found = 0;
  DIR* folder = opendir("/proc/self/task");
  while (const dirent* entry = folder != nullptr ? readdir(folder) : nullptr) {
    const std::string path = std::string("/proc/self/task/") + entry->d_name;
    std::string name, line;
    std::ifstream comm(path + "/comm");
    std::getline(comm, name);
    if (name != "weft-progress") continue;
    std::ifstream stat(path + "/stat");
    std::getline(stat, line);
    const size_t behind = line.rfind(") ");
    if (behind != std::string::npos && behind + 2 < line.size()) found = line[behind + 2];
  }
  if (folder != nullptr) closedir(folder);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(state() != 0, "there is no progress thread");
  while (state() != 'S' && state() != 0) sched_yield();
  const auto begin = std::chrono::steady_clock::now();
  (void)expect::finish();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_AT_MOST("MPI_Finalize with a sleeping progress thread, s", took.count(), 0.5);
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
