/* SPDX-FileCopyrightText: 2026 the Weft authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What `weft selftest` starts on its ranks: each part says "good NAME" or "bad NAME: WHAT" on the first rank.
 *   weft-selftest FOLDER RANKS     FOLDER is where a file may be written */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static unsigned char byte_at(int from, size_t i) {
  return (unsigned char)((size_t)from * 31 + i * 7 + i / 251);
}

/* Whether all ranks are content; the first one says so. */
static void say(const char* name, int good, const char* what) {
  int all = 0;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank != 0) return;
  if (all)
    printf("good %s\n", name);
  else
    printf("bad %s: %s\n", name, what);
  fflush(stdout);
}

static void collectives(void) {
  int sum = -1, first = rank == 0 ? 42 : 0, *from = calloc((size_t)ranks, sizeof *from);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
  int good = from != NULL && sum == ranks * (ranks - 1) / 2 && first == 42;
  if (from != NULL) {
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, from, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) good = good && from[i] == i;
  }
  free(from);
  say("collective operations", good, "a result is wrong");
}

/* Each size takes another way: an envelope, a buffer, cells of shared memory or the kernel's copy. */
static void messages(size_t bytes, const char* name) {
  unsigned char *out = malloc(bytes), *in = malloc(bytes);
  int good = out != NULL && in != NULL;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (good) {
    const int last = (rank + ranks - 1) % ranks;
    for (size_t i = 0; i < bytes; ++i) out[i] = byte_at(rank, i);
    memset(in, 0, bytes);
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, (rank + 1) % ranks, 1, in, (int)bytes, MPI_BYTE, last, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (size_t i = 0; i < bytes; ++i) good = good && in[i] == byte_at(last, i);
    say(name, good, "the data that came are not those that were sent");
  } else {
    say(name, 0, "there is no memory for it");
  }
  free(out);
  free(in);
}

static void windows(void) {
  int *memory, got = -1;
  const int next = (rank + 1) % ranks, one = 1;
  MPI_Win window;
  MPI_Win_allocate(2 * (MPI_Aint)sizeof *memory, (int)sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memory[0] = memory[1] = 0;
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, window);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  say("windows", memory[0] == (rank + ranks - 1) % ranks && got == ranks, "a put, an accumulate or a get went wrong");
  MPI_Win_free(&window);
}

static void files(const char* folder) {
  char name[4096], text[MPI_MAX_ERROR_STRING] = "other data came back than were written";
  int got = -1, length;
  MPI_File file;
  snprintf(name, sizeof name, "%s/weft-selftest.data", folder);
  int error = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &file);
  if (error == MPI_SUCCESS) {
    const MPI_Offset at = rank * (MPI_Offset)sizeof rank;
    MPI_File_write_at_all(file, at, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, (rank + 1) % ranks * (MPI_Offset)sizeof rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  } else {
    MPI_Error_string(error, text, &length);
  }
  say("files", got == (rank + 1) % ranks, text);
}

int main(int argc, char** argv) {
  int provided;
  if (argc != 3) return 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  say("ranks start as one job", ranks == atoi(argv[2]), "each rank is a job of its own");
  say("threads call at the same time", provided == MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE is not there");
  collectives();
  messages(8, "messages of 8 bytes");
  messages(16 << 10, "messages of 16 KiB");
  messages(1 << 20, "messages of 1 MiB");
  messages(16 << 20, "messages of 16 MiB");
  windows();
  files(argv[1]);
  MPI_Finalize();
  return 0;
}
