// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A program of MPI whose calls are known, for statistics_test.py: its first argument names them.
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

// 10 messages of 1000 bytes to the next rank by MPI_Isend and MPI_Send_c, 5 of each; 3 barriers, 4 broadcasts of 64
// ints, 2 exchanges of 8 doubles with each rank.
static void known(void) {
  static char out[1000], in[1000];
  int ints[64] = {0};
  double* all = calloc((size_t)size * 16, sizeof(double));
  for (int i = 0; i < 10; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(in, 1000, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    if (i % 2 == 0) {
      MPI_Isend(out, 1000, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      MPI_Send_c(out, 1000, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
  }
  for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) MPI_Bcast(ints, 64, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) MPI_Alltoall(all, 8, MPI_DOUBLE, all + size * 8, 8, MPI_DOUBLE, MPI_COMM_WORLD);
  free(all);
}

// A window, a communicator with a name, persistent sends.
static void more(void) {
  double* memory;
  MPI_Win win;
  MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_fence(0, win);
  const double value = 1;
  for (int i = 0; i < 6; ++i) MPI_Put(&value, 1, MPI_DOUBLE, (rank + 1) % size, 0, 1, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Comm named;
  MPI_Comm_dup(MPI_COMM_WORLD, &named);
  MPI_Comm_set_name(named, "the ring");
  for (int i = 0; i < 5; ++i) MPI_Barrier(named);
  int out = 0, in;
  MPI_Request requests[2];
  MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 2, named, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 2, named, &requests[1]);
  for (int i = 0; i < 7; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Comm_free(&named);
}

// Rank 1 comes late to every barrier.
static void late(void) {
  for (int i = 0; i < 20; ++i) {
    if (rank == 1 % size) usleep(20000);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static char bytes[1 << 20];

static void work(int milliseconds) {
  usleep((useconds_t)milliseconds * 1000);
}

// ---- Right, but slow: statistics tell the cause.

// Each rank receives from the one before it, and only then sends to the next.
static void serial(void) {
  for (int i = 0; i < 30; ++i) {
    if (rank > 0) MPI_Recv(bytes, 1000, MPI_CHAR, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(4);
    if (rank + 1 < size) MPI_Send(bytes, 1000, MPI_CHAR, rank + 1, 4, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Every rank gives its part to all others by a broadcast of its own.
static void rounds(void) {
  const double begun = MPI_Wtime();
  for (int more = 1; more != 0;) {
    for (int i = 0; i < 50; ++i) {
      for (int root = 0; root < size; ++root) MPI_Bcast(bytes + 65536 * root, 65536, MPI_CHAR, root, MPI_COMM_WORLD);
    }
    more = MPI_Wtime() - begun < 0.3; /* a shorter run gets no advice */
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

// The receiver works before it posts a receive; the data are too many to be sent without it.
static void late_receives(void) {
  for (int i = 0; i < 40; ++i) {
    if (rank == 0) MPI_Send(bytes, sizeof bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) {
      work(10);
      MPI_Recv(bytes, sizeof bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

// Even ranks exchange most with the next one.
static void pairs(void) {
  for (int i = 0; i < 40; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(bytes, 8000, MPI_CHAR, rank ^ 1, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(bytes + 8000, 8000, MPI_CHAR, rank ^ 1, 6, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Sendrecv(bytes, 100, MPI_CHAR, (rank + 1) % size, 7, bytes + 8000, 100, MPI_CHAR, (rank + size - 1) % size, 7,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// ---- Right: nothing stands out.

static void ring(void) {
  for (int i = 0; i < 30; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(bytes, 8000, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(bytes + 8000, 8000, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
    work(10);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

// A factorisation by columns: the owner of a column works on it, and then gives it to all.
static void columns(void) {
  for (int i = 0; i < 60; ++i) {
    work(5);
    MPI_Bcast(bytes, 4096, MPI_CHAR, i % size, MPI_COMM_WORLD);
  }
}

static void sums(void) {
  double sum = 0;
  for (int i = 0; i < 30; ++i) {
    work(10);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

static void sendrecv(void) {
  for (int i = 0; i < 30; ++i) {
    work(10);
    MPI_Sendrecv(bytes, 8000, MPI_CHAR, (rank + 1) % size, 1, bytes + 8000, 8000, MPI_CHAR, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void puts_and_fences(void) {
  char* memory;
  MPI_Win win;
  MPI_Win_allocate(8000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int i = 0; i < 30; ++i) {
    MPI_Win_fence(0, win);
    MPI_Put(bytes, 8000, MPI_CHAR, (rank + 1) % size, 0, 8000, MPI_CHAR, win);
    work(10);
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void* one_thread(void* nothing) {
  char out = 0, in = 0;
  for (int i = 0; i < 10; ++i)
    MPI_Sendrecv(&out, 1, MPI_CHAR, 0, 3, &in, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  pthread_barrier_wait(nothing);
  return NULL;
}

// More threads at the same time than there are blocks of their own; then others, one after the other.
static void threads(void) {
  enum { together = 80, later = 100 };
  pthread_t ids[together];
  pthread_barrier_t meeting, alone;
  pthread_barrier_init(&meeting, NULL, together);
  pthread_barrier_init(&alone, NULL, 1);
  for (int i = 0; i < together; ++i) pthread_create(&ids[i], NULL, one_thread, &meeting);
  for (int i = 0; i < together; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < later; ++i) {
    pthread_create(&ids[0], NULL, one_thread, &alone);
    pthread_join(ids[0], NULL);
  }
}

// Standard input of rank 0 brings a line, or ends.
static int wait_for_line(void) {
  char line[16];
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  return fgets(line, sizeof line, stdin) != NULL;
}

// Rank 1 receives from rank 0, which dies when it is told that rank 1 is waiting.
// The host's energy counter (STATIST_COUNTER, a file) goes on to 200000 microjoules while ranks wait for rank 0.
static void energy(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const int file = open(getenv("STATIST_COUNTER"), O_WRONLY);
    if (file < 0 || pwrite(file, "200000\n", 7, 0) != 7) MPI_Abort(MPI_COMM_WORLD, 3);
    close(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void killed(void) {
  known();
  char c;
  if (rank == 0) {
    wait_for_line();
    raise(SIGKILL);
  }
  MPI_Recv(&c, 1, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Collective operations in place: blocks of 10 ints, and of rank + 1 ints for each rank.
static void in_place(void) {
  int ints[80] = {0}, counts[8], places[8], byte_places[8];
  MPI_Datatype types[8];
  for (int r = 0; r < size; ++r) {
    counts[r] = rank + 1 + r;  // as many as the other sends
    places[r] = 10 * r;
    byte_places[r] = 40 * r;
    types[r] = MPI_INT;
  }
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  MPI_Allgather(MPI_IN_PLACE, 0, none, ints, 10, MPI_INT, comm);
  MPI_Alltoall(MPI_IN_PLACE, 0, none, ints, 10, MPI_INT, comm);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, none, ints, counts, places, MPI_INT, comm);
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, ints, counts, byte_places, types, comm);
  for (int r = 0; r < size; ++r) counts[r] = r + 1;
  MPI_Allgatherv(MPI_IN_PLACE, 0, none, ints, counts, places, MPI_INT, comm);
  const int root = size - 1, is_root = rank == root;
  MPI_Gather(is_root ? MPI_IN_PLACE : ints, 10, MPI_INT, ints, 10, MPI_INT, root, comm);
  MPI_Gatherv(is_root ? MPI_IN_PLACE : ints, rank + 1, MPI_INT, ints, counts, places, MPI_INT, root, comm);
  MPI_Scatter(ints, 10, MPI_INT, is_root ? MPI_IN_PLACE : ints, 10, MPI_INT, root, comm);
  MPI_Scatterv(ints, counts, places, MPI_INT, is_root ? MPI_IN_PLACE : ints, rank + 1, MPI_INT, root, comm);
}

// Until a line comes on standard input of rank 0.
static void watched(void) {
  known();
  int go = rank == 0 ? wait_for_line() : 0;
  MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* act = argc > 1 ? argv[1] : "known";
  if (strcmp(act, "session") == 0) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "statist", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    for (int i = 0; i < 4; ++i) MPI_Barrier(comm);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
  }
  int provided;
  MPI_Init_thread(&argc, &argv, strcmp(act, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(act, "known") == 0) known();
  if (strcmp(act, "more") == 0) more();
  if (strcmp(act, "late") == 0) late();
  if (strcmp(act, "threads") == 0) threads();
  if (strcmp(act, "energy") == 0) energy();
  if (strcmp(act, "serial") == 0) serial();
  if (strcmp(act, "rounds") == 0) rounds();
  if (strcmp(act, "late_receives") == 0) late_receives();
  if (strcmp(act, "pairs") == 0) pairs();
  if (strcmp(act, "ring") == 0) ring();
  if (strcmp(act, "columns") == 0) columns();
  if (strcmp(act, "sums") == 0) sums();
  if (strcmp(act, "sendrecv") == 0) sendrecv();
  if (strcmp(act, "puts") == 0) puts_and_fences();
  if (strcmp(act, "killed") == 0) killed();
  if (strcmp(act, "in_place") == 0) in_place();
  if (strcmp(act, "watched") == 0) watched();
  MPI_Finalize();
  return 0;
}
