// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Questions of a process between MPI_Init_thread and MPI_Finalize, and after; attributes of MPI_COMM_SELF are deleted
// first thing in MPI_Finalize.
#include <cstring>
#include <ctime>
#include <thread>

#include "expect.hpp"

namespace {

int deleted_at = 0;
int deletions = 0;

int on_delete(MPI_Comm comm, int, void* value, void*) {
  int running = 0, rank = -1;
  MPI_Finalized(&running);
  EXPECT(running == 0, "the callback must run before MPI is finalized");
  EXPECT(MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == 0 && comm == MPI_COMM_SELF, "rank %d", rank);
  ++deletions;
  deleted_at = deleted_at * 10 + *static_cast<int*>(value);
  return MPI_SUCCESS;
}

void expect_versions() {
  int major = 0, minor = -1, length = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_version(&major, &minor);
  EXPECT(major == 5 && minor == 0, "version %d.%d", major, minor);
  MPI_Abi_get_version(&major, &minor);
  EXPECT(major == 1 && minor == 0, "ABI version %d.%d", major, minor);
  MPI_Get_library_version(text, &length);
  EXPECT(strncmp(text, "Weft ", 5) == 0 && static_cast<int>(strlen(text)) == length, "\"%s\", %d", text, length);
}

void expect_clock() {
  double start = MPI_Wtime(), tick = MPI_Wtick();
  timespec pause = {0, 20000000};
  nanosleep(&pause, nullptr);
  double passed = MPI_Wtime() - start;
  EXPECT(passed >= 0.02 && passed < 5, "%g s for 20 ms", passed);
  EXPECT(tick > 0 && tick < 1e-5, "tick %g", tick);
}

void expect_main_thread() {
  int main = 0, other = 1, level = 0;
  MPI_Is_thread_main(&main);
  std::thread([&] { MPI_Is_thread_main(&other); }).join();
  EXPECT(main == 1 && other == 0, "main thread %d, another %d", main, other);
  MPI_Query_thread(&level);
  EXPECT(level == MPI_THREAD_SERIALIZED, "level %d", level);
}

}  // namespace

int main(int argc, char** argv) {
  int flag = -1, provided = -1;
  MPI_Initialized(&flag);
  EXPECT(flag == 0, "initialised before MPI_Init");
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  EXPECT(provided == MPI_THREAD_SERIALIZED, "provided %d", provided);
  MPI_Initialized(&flag);
  EXPECT(flag == 1, "not initialised after MPI_Init");
  MPI_Finalized(&flag);
  EXPECT(flag == 0, "finalized before MPI_Finalize");
  expect_versions();
  expect_clock();
  expect_main_thread();
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = -1;
  MPI_Get_processor_name(name, &length);
  EXPECT(length > 0 && static_cast<int>(strlen(name)) == length, "\"%s\", %d", name, length);
  MPI_Pcontrol(1);
  static int numbers[3] = {1, 2, 3};
  for (int& number : numbers) {
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &number);
    MPI_Comm_free_keyval(&key);
  }
  MPI_Finalize();
  EXPECT(deletions == 3 && deleted_at == 321, "deleted %d attributes, in the order %d", deletions, deleted_at);
  MPI_Initialized(&flag);
  EXPECT(flag == 1, "not initialised after MPI_Finalize");
  MPI_Finalized(&flag);
  EXPECT(flag == 1, "not finalized after MPI_Finalize");
  expect_versions();
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
