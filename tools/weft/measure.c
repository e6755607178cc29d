// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What `weft tune` starts on the ranks of a job: times collective operations, each algorithm in turn.
//
//   weft-measure ROUNDS MICROSECONDS COLLECTIVE:ALGORITHM,...:BYTES,... ...
//   weft-measure ROUNDS MICROSECONDS model
//
// A round times each algorithm once, for about so many microseconds, in one order and then in the other. An algorithm
// is chosen by its setting, as a control variable, before a communicator's first operation. Rank 0 prints
//
//   job RANKS HOSTS
//   COLLECTIVE BYTES ALGORITHM MICROSECONDS...     of one call by the slowest rank, a number for each round
//
// Bytes are what they are in the table of algorithms. Algorithms that a job cannot have are left out: leaders where
// hosts make no difference, split where there are fewer elements than ranks, and others that need a number of ranks.
#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measuring.h"

enum { MOST_ALGORITHMS = 16, NAME = 64 };

static int rank, ranks, hosts;
static size_t block;  // bytes of one call's unit: the data, or a block
static int count;     // doubles of a reduction: of all data, or of a block
static unsigned char *out, *in;
static int *counts, *places;  // of the blocks of all ranks

// ---- The operations

static void call_barrier(MPI_Comm comm, int root) {
  (void)root;
  MPI_Barrier(comm);
}
static void call_bcast(MPI_Comm comm, int root) {
  MPI_Bcast(rank == root ? out : in, (int)block, MPI_BYTE, root, comm);
}
static void call_gather(MPI_Comm comm, int root) {
  MPI_Gather(out, (int)block, MPI_BYTE, in, (int)block, MPI_BYTE, root, comm);
}
static void call_scatter(MPI_Comm comm, int root) {
  MPI_Scatter(out, (int)block, MPI_BYTE, in, (int)block, MPI_BYTE, root, comm);
}
static void call_allgather(MPI_Comm comm, int root) {
  (void)root;
  MPI_Allgather(out, (int)block, MPI_BYTE, in, (int)block, MPI_BYTE, comm);
}
static void call_alltoall(MPI_Comm comm, int root) {
  (void)root;
  MPI_Alltoall(out, (int)block, MPI_BYTE, in, (int)block, MPI_BYTE, comm);
}
static void call_reduce(MPI_Comm comm, int root) {
  MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, root, comm);
}
static void call_allreduce(MPI_Comm comm, int root) {
  (void)root;
  MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
}
static void call_reduce_scatter(MPI_Comm comm, int root) {
  (void)root;
  MPI_Reduce_scatter_block(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
}

// The forms for blocks that may differ; here they are all the same.
static void call_gatherv(MPI_Comm comm, int root) {
  MPI_Gatherv(out, (int)block, MPI_BYTE, in, counts, places, MPI_BYTE, root, comm);
}
static void call_scatterv(MPI_Comm comm, int root) {
  MPI_Scatterv(out, counts, places, MPI_BYTE, in, (int)block, MPI_BYTE, root, comm);
}
static void call_allgatherv(MPI_Comm comm, int root) {
  (void)root;
  MPI_Allgatherv(out, (int)block, MPI_BYTE, in, counts, places, MPI_BYTE, comm);
}
static void call_alltoallv(MPI_Comm comm, int root) {
  (void)root;
  MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, comm);
}

static void call_scan(MPI_Comm comm, int root) {
  (void)root;
  MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, comm);
}

enum Layout { NOTHING, DATA, BLOCK_OUT, BLOCK_IN, BLOCK_EACH, DOUBLES };

struct Operation {
  const char* name;
  void (*call)(MPI_Comm comm, int root);
  enum Layout layout;
  int rooted;  // the result is the root's alone
  int shared;  // its bytes are of all ranks together
};
static const struct Operation operations[] = {{"barrier", call_barrier, NOTHING, 0, 0},
                                              {"bcast", call_bcast, DATA, 0, 0},
                                              {"gather", call_gather, BLOCK_OUT, 1, 0},
                                              {"scatter", call_scatter, BLOCK_IN, 0, 0},
                                              {"allgather", call_allgather, BLOCK_OUT, 0, 1},
                                              {"alltoall", call_alltoall, BLOCK_EACH, 0, 0},
                                              {"reduce", call_reduce, DOUBLES, 1, 0},
                                              {"allreduce", call_allreduce, DOUBLES, 0, 0},
                                              {"reduce_scatter", call_reduce_scatter, DOUBLES, 0, 1},
                                              {"scan", call_scan, DOUBLES, 0, 0},
                                              {"gatherv", call_gatherv, BLOCK_OUT, 1, 0},
                                              {"scatterv", call_scatterv, BLOCK_IN, 0, 0},
                                              {"allgatherv", call_allgatherv, BLOCK_OUT, 0, 1},
                                              {"alltoallv", call_alltoallv, BLOCK_EACH, 0, 0}};

static const struct Operation* operation_of(const char* name) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(operations[i].name, name) == 0) return &operations[i];
  }
  die("no such collective", name);
}

// Byte i of the data that rank `from` has for rank `to`.
static unsigned char pattern(int from, int to, size_t i) {
  return (unsigned char)((size_t)from * 131 + (size_t)to * 31 + i + (i >> 8));
}

static void fill(const struct Operation* op, size_t doubles) {
  if (op->layout == DOUBLES) {
    for (size_t i = 0; i < doubles; ++i) ((double*)out)[i] = rank + (double)(i % 100);
    return;
  }
  const int apart = op->layout == BLOCK_EACH || op->layout == BLOCK_IN;
  for (int to = 0; to < (apart ? ranks : 1); ++to) {
    for (size_t i = 0; i < block; ++i) out[(size_t)to * block + i] = pattern(rank, to, i);
  }
}

// A result that is wrong must not count as fast.
static void check(const struct Operation* op, int root, const char* algorithm) {
  if (op->layout == NOTHING || (op->rooted && rank != root)) return;
  if (op->layout == DOUBLES) {
    const size_t first = op->shared ? (size_t)rank * (size_t)count : 0;
    const int n = op->call == call_scan ? rank + 1 : ranks;
    for (size_t i = 0; i < (size_t)count; ++i) {
      const double sum = n * (n - 1) / 2.0 + (double)n * (double)((first + i) % 100);
      if (((double*)in)[i] != sum) die("a reduction is wrong by algorithm", algorithm);
    }
    return;
  }
  if (op->layout == DATA && rank == root) return;
  const int one = op->layout == DATA || op->layout == BLOCK_IN;
  for (int from = 0; from < (one ? 1 : ranks); ++from) {
    const int to = op->layout == BLOCK_IN || op->layout == BLOCK_EACH ? rank : 0;
    for (size_t i = 0; i < block; ++i) {
      if (in[(size_t)from * block + i] != pattern(one ? root : from, to, i))
        die("data are wrong by algorithm", algorithm);
    }
  }
}

// ---- The algorithms

// Sets WEFT_<COLLECTIVE>_ALGORITHM on this rank.
static void choose(const char* collective, const char* algorithm) {
  char name[NAME];
  snprintf(name, sizeof name, "WEFT_%s_ALGORITHM", collective);
  for (char* c = name; *c; ++c) *c = (char)toupper((unsigned char)*c);
  int index, verbosity, bind, scope, length = 0, words = 0, entries;
  MPI_Datatype type;
  MPI_T_enum choices;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) die("the library has no setting", name);
  MPI_T_cvar_get_info(index, NULL, &length, &verbosity, &type, &choices, NULL, &length, &bind, &scope);
  length = 0;
  MPI_T_enum_get_info(choices, &words, NULL, &length);
  for (int i = 0; i < words; ++i) {
    char word[NAME];
    int value, room = sizeof word;
    MPI_T_enum_get_item(choices, i, &value, word, &room);
    if (strcmp(word, algorithm) != 0) continue;
    MPI_T_cvar_handle handle;
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &entries);
    if (MPI_T_cvar_write(handle, &value) != MPI_SUCCESS) die("a setting cannot be written", name);
    MPI_T_cvar_handle_free(&handle);
    return;
  }
  die("no such algorithm", algorithm);
}

// A communicator that does this collective by this algorithm.
static MPI_Comm comm_of(const char* collective, const char* algorithm) {
  MPI_Comm comm;
  choose(collective, algorithm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  choose(collective, "auto");
  return comm;
}

static int is_possible(const struct Operation* op, const char* algorithm) {
  if (strcmp(algorithm, "leaders") == 0) return hosts > 1 && hosts < ranks;
  if (strcmp(algorithm, "doubling") == 0 && op->call == call_allgather) return (ranks & (ranks - 1)) == 0;
  if (strcmp(algorithm, "neighbours") == 0) return ranks % 2 == 0;
  if (strcmp(algorithm, "split") == 0 || (strcmp(algorithm, "ring") == 0 && op->layout == DOUBLES))
    return (op->layout == DOUBLES ? (size_t)count : block) >= (size_t)ranks;
  return 1;
}

// ---- The measurement

static double times(const struct Operation* op, MPI_Comm comm, int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_us();
  for (int i = 0; i < calls; ++i) op->call(comm, i % ranks);  // no rank runs ahead as the root of all
  double took = now_us() - start;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took / calls;
}

static void size_buffers(const struct Operation* op, size_t bytes) {
  const size_t all = (size_t)ranks;
  size_t doubles = 0;
  block = op->shared ? (bytes + all - 1) / all : bytes;
  if (op->layout == DOUBLES) {
    count = (int)((block + 7) / 8);
    block = (size_t)count * sizeof(double);
    doubles = (size_t)count * (op->shared ? all : 1);
  }
  const size_t room = (block + 1) * all;
  out = malloc(room);
  in = malloc(room);
  counts = malloc(all * sizeof *counts);
  places = malloc(all * sizeof *places);
  if (out == NULL || in == NULL || counts == NULL || places == NULL) die("no memory for", op->name);
  memset(in, 0, room);
  memset(out, 0, room);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = (int)block;
    places[r] = r * (int)block;
  }
  fill(op, doubles);
}

static void measure(const struct Operation* op, size_t bytes, char names[][NAME], MPI_Comm* comms, int algorithms,
                    int rounds, double block_us) {
  static double took[MOST_ALGORITHMS][MOST_ROUNDS];
  int calls[MOST_ALGORITHMS];
  size_buffers(op, bytes);
  for (int a = 0; a < algorithms; ++a) {
    calls[a] = 0;
    if (!is_possible(op, names[a])) continue;
    op->call(comms[a], ranks - 1);
    check(op, ranks - 1, names[a]);
    const double once = times(op, comms[a], 3);
    calls[a] = once > block_us ? 1 : once < block_us / 1e5 ? 100000 : (int)(block_us / once);
  }
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < algorithms; ++i) {
      const int a = r % 2 == 0 ? i : algorithms - 1 - i;
      if (calls[a] > 0) took[a][r] = times(op, comms[a], calls[a]);
    }
  }
  for (int a = 0; a < algorithms && rank == 0; ++a) {
    if (calls[a] == 0) continue;
    printf("%s %zu %s", op->name, bytes, names[a]);
    for (int r = 0; r < rounds; ++r) printf(" %.4g", took[a][r]);
    printf("\n");
    fflush(stdout);
  }
  free(out);
  free(in);
  free(counts);
  free(places);
}

static void measure_all(char* wanted, int rounds, double block_us) {
  char names[MOST_ALGORITHMS][NAME];
  MPI_Comm comms[MOST_ALGORITHMS];
  int algorithms = 0;
  char *rest = NULL, *more = NULL;
  const char* collective = strtok_r(wanted, ":", &rest);
  char* listed = strtok_r(NULL, ":", &rest);
  char* sizes = strtok_r(NULL, ":", &rest);
  if (collective == NULL || listed == NULL || sizes == NULL) die("this is not COLLECTIVE:ALGORITHMS:BYTES", wanted);
  const struct Operation* op = operation_of(collective);
  for (char* word = strtok_r(listed, ",", &more); word != NULL; word = strtok_r(NULL, ",", &more)) {
    if (algorithms == MOST_ALGORITHMS) die("too many algorithms of", collective);
    snprintf(names[algorithms], NAME, "%s", word);
    comms[algorithms] = comm_of(collective, word);
    ++algorithms;
  }
  for (char* word = strtok_r(sizes, ",", &more); word != NULL; word = strtok_r(NULL, ",", &more)) {
    measure(op, strtoull(word, NULL, 10), names, comms, algorithms, rounds, block_us);
  }
  for (int a = 0; a < algorithms; ++a) MPI_Comm_free(&comms[a]);
}

// ---- The model

enum { STREAM = 64 };  // messages at a time

static int before(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

// Seconds of a message from rank 0 to rank 1: half of there and back.
static double trip(size_t bytes, int calls) {
  for (int i = 0; i < 2; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_us();
  for (int i = 0; i < calls; ++i) {
    if (rank == 0) MPI_Send(out, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(in, (int)bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  return (now_us() - start) * 1e-6 / calls / 2;
}

// Measures the time of each of many small messages: in the call that sends it to a receive that is there (`sent`), and
// until all have come (`each`).
static void stream(int calls, double* sent, double* each) {
  MPI_Request requests[STREAM];
  const int sends = rank == 0;  // a copy: clang-tidy 14 believes that calls change the variable, and crashes
  double in_calls = 0, all = 0;
  for (int c = 0; c < calls; ++c) {
    for (int i = 0; i < STREAM && !sends; ++i) MPI_Irecv(in + 8 * i, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_us();
    for (int i = 0; i < STREAM && sends; ++i) MPI_Isend(out, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
    in_calls += now_us() - start;
    MPI_Waitall(STREAM, requests, MPI_STATUSES_IGNORE);
    if (sends) MPI_Recv(in, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!sends) MPI_Send(out, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    all += now_us() - start;
  }
  *sent = in_calls * 1e-6 / calls / STREAM;
  *each = all * 1e-6 / calls / STREAM;
}

// To receive a small message that has come before its receive.
static double take_unexpected(int calls) {
  double took = 0;
  for (int c = 0; c < calls; ++c) {
    for (int i = 0; i < STREAM && rank == 1; ++i) MPI_Send(out, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_us();
    for (int i = 0; i < STREAM && rank == 0; ++i) MPI_Recv(in, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took += now_us() - start;
  }
  return took * 1e-6 / calls / STREAM;
}

static double copy_byte(size_t bytes) {
  const double start = now_us();
  MPI_Reduce_local(out, in, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM);
  return (now_us() - start) * 1e-6 / (double)bytes;
}

static double at_least_0(double value) {
  return value > 0 ? value : 0;
}

// Prints the parameters of a model (weft/model.hpp), medians of the rounds: for two ranks, of one host or of two.
static void measure_model(int rounds) {
  enum { LATENCY, OVERHEAD, PER_BYTE, GAP, COPY, UNEXPECTED, PARTS };
  static const char* const names[PARTS] = {"latency", "overhead", "per_byte", "gap", "copy", "unexpected"};
  static double values[PARTS][MOST_ROUNDS];
  const size_t much = 1 << 20;
  if (ranks != 2) die("a model is measured with two ranks, not with", "others");
  out = calloc(much, 1);
  in = calloc(much, 1);
  if (out == NULL || in == NULL) die("no memory for", "the model");
  for (int r = -1; r < rounds; ++r) {  // the first to get warm
    double sent, each;
    const double small = trip(8, 1000), large = trip(much, 10), copied = copy_byte(much);
    stream(20, &sent, &each);
    const double unexpected = take_unexpected(20);
    if (r < 0) continue;
    values[LATENCY][r] = at_least_0(small - 2 * sent);
    values[OVERHEAD][r] = sent;
    values[PER_BYTE][r] = at_least_0(large - small) / (double)much;
    values[GAP][r] = at_least_0(each - sent);
    values[COPY][r] = copied;
    values[UNEXPECTED][r] = at_least_0(unexpected - sent);
  }
  for (int p = 0; p < PARTS && rank == 0; ++p) {
    const int of_wire = p <= PER_BYTE;
    if (hosts == 1 ? p == GAP : p >= COPY) continue;
    qsort(values[p], (size_t)rounds, sizeof **values, before);
    printf("model %s%s %.4g\n", of_wire && hosts == 1 ? "local_" : "", names[p], values[p][rounds / 2]);
  }
  free(out);
  free(in);
}

static int count_hosts(void) {
  MPI_Comm here;
  int place;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_rank(here, &place);
  MPI_Comm_free(&here);
  int first = place == 0;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return first;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4) die("usage", "weft-measure ROUNDS MICROSECONDS COLLECTIVE:ALGORITHM,...:BYTES,... ...");
  const int rounds = rounds_in(argv[1]);
  const double block_us = atof(argv[2]);
  hosts = count_hosts();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("job %d %d\n", ranks, hosts);
  for (int i = 3; i < argc; ++i) {
    if (strcmp(argv[i], "model") == 0) {
      measure_model(rounds);
    } else {
      measure_all(argv[i], rounds, block_us);
    }
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
