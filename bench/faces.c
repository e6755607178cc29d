// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The six faces of a cube of doubles, exchanged with the neighbours in three dimensions by datatypes: time of an
// exchange of all ranks. Size: the edge of a rank's cube, in elements. Data may lie on a device (place.h).
#include <mpi.h>

#include "place.h"

enum { DIMENSIONS = 3, FACES = 6, HALO = 1 };

struct cube {
  int edge;  // with the layers of neighbours: edge + 2
  double* field;
  MPI_Comm comm;
  int neighbours[FACES];  // 2 d: below in dimension d; 2 d + 1: above
  MPI_Datatype inner[FACES], outer[FACES];
};

static void create_types(struct cube* c) {
  const int all = c->edge + 2 * HALO;
  for (int face = 0; face < FACES; ++face) {
    int sizes[] = {all, all, all}, counts[] = {c->edge, c->edge, c->edge}, starts[] = {HALO, HALO, HALO};
    counts[face / 2] = HALO;
    starts[face / 2] = face % 2 ? c->edge : HALO;
    MPI_Type_create_subarray(DIMENSIONS, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &c->inner[face]);
    starts[face / 2] = face % 2 ? c->edge + HALO : 0;
    MPI_Type_create_subarray(DIMENSIONS, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &c->outer[face]);
    MPI_Type_commit(&c->inner[face]);
    MPI_Type_commit(&c->outer[face]);
  }
}

static void exchange(struct cube* c, int iterations) {
  MPI_Request requests[2 * FACES];
  for (int i = 0; i < iterations; ++i) {
    for (int f = 0; f < FACES; ++f) {
      MPI_Irecv(c->field, 1, c->outer[f], c->neighbours[f], f ^ 1, c->comm, &requests[f]);
    }
    for (int f = 0; f < FACES; ++f) {
      MPI_Isend(c->field, 1, c->inner[f], c->neighbours[f], f, c->comm, &requests[FACES + f]);
    }
    MPI_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
  }
}

static double value(int rank, const int* at) {
  return rank * 1e8 + (at[0] * 1000. + at[1]) * 1000. + at[2];
}

static size_t place_of(const struct cube* c, const int* at) {
  const size_t all = (size_t)c->edge + 2 * HALO;
  return ((size_t)at[0] * all + (size_t)at[1]) * all + (size_t)at[2];
}

// Every element of the cube, in turn, with how many of its coordinates are in the layer of a neighbour, and in which
// face the last of them is.
static int next_of(const struct cube* c, int* at, int* outside, int* face) {
  const int all = c->edge + 2 * HALO;
  for (int d = DIMENSIONS - 1; ++at[d] == all; --d) {
    if (d == 0) return 0;
    at[d] = 0;
  }
  *outside = 0;
  for (int d = 0; d < DIMENSIONS; ++d) {
    if (at[d] >= HALO && at[d] < c->edge + HALO) continue;
    ++*outside;
    *face = 2 * d + (at[d] >= HALO);
  }
  return 1;
}

static void fill(const struct cube* c, int rank, size_t bytes) {
  double* room = place_room(c->field, bytes);
  int outside, face;
  room[0] = -1;
  for (int at[DIMENSIONS] = {0, 0, 0}; next_of(c, at, &outside, &face);) {
    room[place_of(c, at)] = outside ? -1 : value(rank, at);
  }
  place_write(c->field, bytes);
}

static void check(const struct cube* c, int rank, size_t bytes) {
  const double* seen = place_read(c->field, bytes);
  int outside, face;
  for (int at[DIMENSIONS] = {0, 0, 0}; next_of(c, at, &outside, &face);) {
    double wanted = outside ? -1 : value(rank, at);
    if (outside == 1) {
      int there[] = {at[0], at[1], at[2]};
      there[face / 2] = face % 2 ? HALO : c->edge;
      wanted = value(c->neighbours[face], there);
    }
    if (seen[place_of(c, at)] != wanted) bench_die("a face arrived with wrong elements");
  }
}

static void measure(struct cube* c, int rank, const struct bench_options* options) {
  enum { TRIES = 3 };
  const size_t all = (size_t)c->edge + 2 * HALO, bytes = all * all * all * sizeof(double);
  double blocks[BENCH_BLOCKS];
  c->field = (double*)(void*)place_buffer(bytes);
  create_types(c);
  fill(c, rank, bytes);
  exchange(c, 1);
  check(c, rank, bytes);
  double start = bench_now_us();
  exchange(c, TRIES);
  const int iterations = bench_agree(bench_iterations(options, bench_now_us() - start, TRIES));
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    MPI_Barrier(c->comm);
    start = bench_now_us();
    exchange(c, iterations);
    blocks[b] = (bench_now_us() - start) / iterations;
  }
  if (rank == 0) bench_emit("faces", (size_t)c->edge, bench_median(blocks, BENCH_BLOCKS), "us");
  for (int f = 0; f < FACES; ++f) {
    MPI_Type_free(&c->inner[f]);
    MPI_Type_free(&c->outer[f]);
  }
  place_free(c->field);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {16, 64, 128};
  const struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  place_start(rank);
  struct cube cube;
  int ranks, counts[] = {0, 0, 0};
  const int around[] = {1, 1, 1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, DIMENSIONS, counts);
  MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, counts, around, 0, &cube.comm);
  for (int d = 0; d < DIMENSIONS; ++d) {
    MPI_Cart_shift(cube.comm, d, 1, &cube.neighbours[2 * d], &cube.neighbours[2 * d + 1]);
  }
  for (int i = 0; i < options.size_count; ++i) {
    if (options.sizes[i] < 1 || options.sizes[i] > 900) bench_die("an edge has 1 to 900 elements");
    cube.edge = (int)options.sizes[i];
    measure(&cube, rank, &options);
  }
  MPI_Comm_free(&cube.comm);
  MPI_Finalize();
  return 0;
}
