// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Sessions after MPI_Finalize, again and again, with communicators, windows, files and spawned processes. `all`: of all
// ranks. `some`: of two, while the others have ended. `spawn`: each session starts a process, which is this program
// with the argument `child`. `threads`: two threads communicate at the same time, as MPI_Init_thread had it. `abort`: a
// rank ends the job from a session. `open`: the program ends with an open session. `quick`: one rank ends by _exit, and
// no session follows.
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "expect.hpp"

namespace {

MPI_Session open_session() {
  MPI_Session session = MPI_SESSION_NULL;
  EXPECT_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
  int flag = -1;
  MPI_Finalized(&flag);
  EXPECT(flag == 1, "a session after MPI_Finalize undid it");
  return session;
}

// A communicator of the job's first ranks.
MPI_Comm communicator_of(MPI_Session session, int ranks, const char* name) {
  MPI_Group all, group;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  int range[1][3] = {{0, ranks - 1, 1}};
  MPI_Group_range_incl(all, 1, range, &group);
  MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  MPI_Group_free(&all);
  return comm;
}

// Messages small and large go round.
void exchange(MPI_Comm comm, int tag) {
  int rank = -1, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (const int count : {1, 100000}) {
    std::vector<int> sent(static_cast<size_t>(count), rank), got(static_cast<size_t>(count), -1);
    const int before = (rank + size - 1) % size;
    MPI_Sendrecv(sent.data(), count, MPI_INT, (rank + 1) % size, tag, got.data(), count, MPI_INT, before, tag, comm,
                 MPI_STATUS_IGNORE);
    EXPECT(got.front() == before && got.back() == before, "got %d and %d of %d", got.front(), got.back(), before);
  }
}

void collect(MPI_Comm comm) {
  int rank = -1, size = 0, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == size * (size - 1) / 2, "sum %d of %d ranks", sum, size);
}

void put(MPI_Comm comm) {
  int rank = -1, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* memory = nullptr;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  EXPECT(*memory == (rank + size - 1) % size, "put %d", *memory);
  MPI_Win_free(&win);
}

void write(MPI_Comm comm, const std::string& path) {
  int rank = -1, got = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_File file;
  EXPECT_CLASS(MPI_File_open(comm, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &file),
               MPI_SUCCESS);
  MPI_Request request;
  const auto at = static_cast<MPI_Offset>(sizeof rank) * rank;
  MPI_File_iwrite_at(file, at, &rank, 1, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, at, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
  EXPECT(got == rank, "read %d", got);
  MPI_File_close(&file);
}

void spawn(MPI_Comm comm, char* program) {
  MPI_Comm child = MPI_COMM_NULL;
  char argument[] = "child";
  char* arguments[] = {argument, nullptr};
  int code = -1, got = 0;
  EXPECT_CLASS(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, comm, &child, &code), MPI_SUCCESS);
  EXPECT(code == MPI_SUCCESS, "code %d", code);
  MPI_Bcast(&got, 1, MPI_INT, 0, child);
  EXPECT(got == 17, "the child said %d", got);
  MPI_Comm_disconnect(&child);
}

int be_child() {
  MPI_Comm parent;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_get_parent(&parent);
  int said = 17;
  MPI_Bcast(&said, 1, MPI_INT, MPI_ROOT, parent);
  MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string way = argv[1];
  if (way == "child") return be_child();
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, way == "threads" ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);
  int number = static_cast<int>(getpid());
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string path = "sessions_after." + std::to_string(number);
  collect(MPI_COMM_WORLD);
  MPI_Finalize();
  if (way == "quick") {
    if (expect::rank == 1) _exit(EXIT_SUCCESS);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    printf("rank %d ends well\n", expect::rank);
    return EXIT_SUCCESS;
  }
  const int ranks = way == "some" ? 2 : expect::size;
  if (expect::rank >= ranks) return EXIT_SUCCESS;
  const int sessions = way == "spawn" ? 3 : 50;
  for (int i = 0; i < sessions; ++i) {
    MPI_Session session = open_session();
    if (expect::failures != 0) return EXIT_FAILURE;
    MPI_Comm comm = communicator_of(session, ranks, "first");
    if (way == "abort") {
      if (i == 2 && expect::rank == 0) MPI_Abort(comm, 7);
      if (i == 2) MPI_Barrier(comm);
    }
    collect(comm);
    if (way == "threads") {
      MPI_Comm other = communicator_of(session, ranks, "second");
      std::thread thread([&] { exchange(other, 1); });
      exchange(comm, 2);
      thread.join();
      MPI_Comm_free(&other);
    } else {
      exchange(comm, i);
    }
    put(comm);
    write(comm, path);
    if (way == "spawn") spawn(comm, argv[0]);
    MPI_Comm_free(&comm);
    if (way == "open") return EXIT_SUCCESS;
    MPI_Session_finalize(&session);
    EXPECT(session == MPI_SESSION_NULL, "not set to MPI_SESSION_NULL");
  }
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
