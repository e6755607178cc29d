// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Work of one kind for a while, whose results are checked, for faults.py.
//
//   work pingpong|alltoall|locks|files|spawn|shmem SECONDS [FOLDER]
//
// FOLDER is one that all hosts share, for the files. A wrong result ends the job with status 3.
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, ranks, next, before;
static const char *program, *folder = ".";
enum { most = 100000 };
static int out[most], in[most];

static void expect(int holds, const char* what, int round, int i, int value) {
  if (holds) return;
  fprintf(stderr, "rank %d, round %d: %s: element %d is %d\n", me, round, what, i, value);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int expected(int round, int rank, int i) {
  return round * 31 + rank * 1009 + i;
}

static int count_of(int round) {
  return 1 + (round * 7919) % (round % 8 == 0 ? most : 1000);
}

// Each even rank with the next one: one message there, the next one back.
static void pingpong(int round) {
  const int count = count_of(round), peer = me % 2 == 0 ? me + 1 : me - 1;
  if (peer >= ranks) return;
  for (int i = 0; i < count; ++i) out[i] = expected(round, me, i);
  memset(in, 0xff, sizeof *in * (size_t)count);
  for (int step = 0; step < 2; ++step) {
    if (step == me % 2) {
      MPI_Send(out, count, MPI_INT, peer, 1, MPI_COMM_WORLD);
    } else {
      MPI_Recv(in, count, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  for (int i = 0; i < count; ++i) expect(in[i] == expected(round, peer, i), "ping-pong", round, i, in[i]);
}

static void alltoall(int round) {
  const int count = count_of(round) / ranks + 1;
  for (int i = 0; i < count * ranks; ++i) out[i] = expected(round, me, i);
  memset(in, 0xff, sizeof *in * (size_t)(count * ranks));
  MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < count * ranks; ++i) {
    expect(in[i] == expected(round, i / count, me * count + i % count), "alltoall", round, i, in[i]);
  }
}

// All ranks add to a number of rank 0 under an exclusive lock, and write to a place of their own at the next rank.
static void locks(int round) {
  static MPI_Win window = MPI_WIN_NULL;
  static int* memory;
  if (window == MPI_WIN_NULL) {
    MPI_Win_allocate(sizeof *memory * (most + 1), sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    memset(memory, 0, sizeof *memory * (most + 1));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const int count = count_of(round) / 4 + 1;
  int number = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Get(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  MPI_Win_flush(0, window);
  ++number;
  MPI_Put(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
  MPI_Win_unlock(0, window);
  for (int i = 0; i < count; ++i) out[i] = expected(round, me, i);
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
  MPI_Put(out, count, MPI_INT, next, 1, count, MPI_INT, window);
  MPI_Win_unlock(next, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
  if (me == 0) expect(memory[0] == (round + 1) * ranks, "number under a lock", round, 0, memory[0]);
  for (int i = 0; i < count; ++i) expect(memory[1 + i] == expected(round, before, i), "put", round, i, memory[1 + i]);
  MPI_Win_unlock(me, window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void files(int round) {
  char name[4096];
  snprintf(name, sizeof name, "%s/file", folder);
  const int count = count_of(round) / 4 + 1;
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    expect(0, "opening the file", round, 0, 0);
  }
  for (int i = 0; i < count; ++i) out[i] = expected(round, me, i);
  const MPI_Offset bytes = (MPI_Offset)sizeof *out * count;
  MPI_File_write_at_all(file, me * bytes, out, count, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(in, 0xff, sizeof *in * (size_t)count);
  MPI_File_read_at_all(file, before * bytes, in, count, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) expect(in[i] == expected(round, before, i), "file", round, i, in[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_close(&file);
}

static void spawn(int round) {
  char* words[] = {"child", NULL};
  MPI_Comm children;
  MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  int sum = round + me, back = 0;
  MPI_Send(&sum, 1, MPI_INT, 0, 2, children);
  MPI_Recv(&back, 1, MPI_INT, 0, 2, children, MPI_STATUS_IGNORE);
  expect(back == sum + 1, "child", round, 0, back);
  MPI_Comm_disconnect(&children);
}

static void be_child(MPI_Comm parents) {
  int count;
  MPI_Comm_remote_size(parents, &count);
  for (int i = 0; i < count; ++i) {
    int number;
    MPI_Recv(&number, 1, MPI_INT, i, 2, parents, MPI_STATUS_IGNORE);
    ++number;
    MPI_Send(&number, 1, MPI_INT, i, 2, parents);
  }
  MPI_Comm_disconnect(&parents);
}

// A put to the next PE, a word that says so, and a number that all add to.
static void shmem(int round) {
  static long *word, *number;
  static int* place;
  if (word == NULL) {
    shmem_init();
    word = shmem_calloc(1, sizeof *word);
    number = shmem_calloc(1, sizeof *number);
    place = shmem_calloc(most, sizeof *place);
  }
  const int count = count_of(round) / 4 + 1;
  for (int i = 0; i < count; ++i) out[i] = expected(round, me, i);
  shmem_int_put(place, out, (size_t)count, next);
  shmem_fence();
  shmem_long_p(word, round + 1, next);
  shmem_long_atomic_inc(number, 0);
  shmem_long_wait_until(word, SHMEM_CMP_EQ, round + 1);
  for (int i = 0; i < count; ++i) expect(place[i] == expected(round, before, i), "put", round, i, place[i]);
  shmem_barrier_all();
  if (me == 0) expect(*number == (long)(round + 1) * ranks, "number", round, 0, (int)*number);
  shmem_barrier_all();
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*work)(int round);
  } kinds[] = {{"pingpong", pingpong}, {"alltoall", alltoall}, {"locks", locks},
               {"files", files},       {"spawn", spawn},       {"shmem", shmem}};
  const char* what = argc > 1 ? argv[1] : "pingpong";
  const double seconds = argc > 2 ? atof(argv[2]) : 1;
  program = argv[0];
  if (argc > 3) folder = argv[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (me + 1) % ranks;
  before = (me + ranks - 1) % ranks;
  MPI_Comm parents;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) {
    be_child(parents);
  } else {
    void (*work)(int) = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
      if (strcmp(kinds[i].name, what) == 0) work = kinds[i].work;
    }
    if (work == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("ready %d %d\n", me, (int)getpid());
    fflush(stdout);
    const double end = MPI_Wtime() + seconds;
    int more = 1, round = 0;
    for (; more; ++round) {
      work(round);
      int go_on = MPI_Wtime() < end, sum = 0;
      MPI_Allreduce(&go_on, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      more = sum == ranks;
    }
    if (me == 0) printf("rounds %d\n", round);
  }
  if (strcmp(what, "shmem") == 0) shmem_finalize();
  MPI_Finalize();
  return 0;
}
