// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A real rank of a job that claims more ranks than there are (giant_test.py serves it): says after each step what it
// holds, and goes on when it is told to. Arguments: the other real rank, then numbers of ranks to contact.
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(what)                                                     \
  do {                                                                  \
    if (!(what)) {                                                      \
      fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #what); \
      MPI_Abort(MPI_COMM_WORLD, 3);                                     \
    }                                                                   \
  } while (0)

static int rank = -1, size = -1;

// The other real rank may be making its way to us, or, as it thinks, to one that is not there.
static void serve_others(void) {
  int ready, flag;
  MPI_Initialized(&ready);
  if (ready) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

// KiB of this process: in memory, and of them its own alone.
static void report(const char* step, double seconds) {
  long rss = 0, own = 0, kib = 0;
  char line[256];
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Rss: %ld", &kib) == 1) rss = kib;
    if (sscanf(line, "Private_Dirty: %ld", &kib) == 1) own = kib;
  }
  if (file != NULL) fclose(file);
  printf("%s rss=%ld own=%ld seconds=%.6f\n", step, rss, own, seconds);
  fflush(stdout);
  struct pollfd word = {.fd = STDIN_FILENO, .events = POLLIN};
  while (poll(&word, 1, 1) == 0) serve_others();
  (void)!read(STDIN_FILENO, line, 1);
}

// How many messages went by the mailbox so far.
static unsigned long long mailboxed(void) {
  static MPI_T_pvar_session session;
  static MPI_T_pvar_handle handle;
  static int known = 0, count = 0;
  unsigned long long value = 0;
  if (!known) {
    int provided, index;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    CHECK(MPI_T_pvar_get_index("weft_e0_messages", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_start(session, handle);
    known = 1;
  }
  MPI_T_pvar_read(session, handle, &value);
  return value;
}

static void exchange(char* out, char* in, int bytes, int other) {
  memset(out, 'a' + bytes % 26, (size_t)bytes);
  memset(in, 0, (size_t)bytes);
  MPI_Sendrecv(out, bytes, MPI_CHAR, other, bytes, in, bytes, MPI_CHAR, other, bytes, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(memcmp(out, in, (size_t)bytes) == 0);
}

// Sizes on all paths; in a job of so many ranks the mailbox takes 100 bytes at most.
static void talk(int other) {
  static char out[1 << 20], in[1 << 20];
  const int limit = size > 256 * 1024 ? 100 : 8152;
  const unsigned long long before = mailboxed();
  exchange(out, in, limit, other);
  CHECK(mailboxed() == before + 1);
  exchange(out, in, limit + 1, other);
  CHECK(mailboxed() == before + 1);
  exchange(out, in, 0, other);
  exchange(out, in, 8192, other);
  exchange(out, in, 1 << 20, other);
}

static void groups(int other) {
  MPI_Group world, pair, others, both;
  int first[2] = {rank < other ? rank : other, rank < other ? other : rank}, translated[2], result, n;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(world, &n);
  CHECK(n == size);
  MPI_Group_incl(world, 2, first, &pair);
  MPI_Group_translate_ranks(world, 2, first, pair, translated);
  CHECK(translated[0] == 0 && translated[1] == 1);
  int even[1][3] = {{0, size - 1, 2}};
  MPI_Group_range_incl(world, 1, even, &others);
  MPI_Group_size(others, &n);
  CHECK(n == (size + 1) / 2);
  MPI_Group_union(world, others, &both);
  MPI_Group_compare(world, both, &result);
  CHECK(result == MPI_IDENT);
  MPI_Comm two;
  MPI_Comm_create_group(MPI_COMM_WORLD, pair, 0, &two);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, two);
  CHECK(sum == rank + other);
  MPI_Comm_free(&two);
  MPI_Group_free(&world);
  MPI_Group_free(&pair);
  MPI_Group_free(&others);
  MPI_Group_free(&both);
}

// The first message to `count` ranks more, spread over the job. Nobody is there to receive it.
static void contact(int count, int other) {
  static int next = 1;
  const int step = 67;  // no multiple of the ranks of a host
  for (int i = 0; i < count; next = (next + step) % size) {
    if (next == rank || next == other) continue;
    MPI_Request request;
    MPI_Isend(NULL, 0, MPI_CHAR, next, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    int flag;  // takes in what comes from the other real rank for those that are not there
    ++i;
    MPI_Iprobe(other, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  report("start", 0);
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int other = atoi(argv[1]);
  report("init", 0);
  double from = MPI_Wtime();
  groups(other);
  report("groups", MPI_Wtime() - from);
  from = MPI_Wtime();
  talk(other);
  report("pair", MPI_Wtime() - from);
  for (int i = 2; i < argc; ++i) {  // how many
    char step[32];
    snprintf(step, sizeof step, "contact-%s", argv[i]);
    from = MPI_Wtime();
    contact(atoi(argv[i]), other);
    report(step, MPI_Wtime() - from);
  }
  printf("end\n");
  fflush(stdout);
  _exit(0);  // MPI_Finalize would wait for those who are not there
}
