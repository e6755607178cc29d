// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Collective operations on the world's team, on a part of it, and on an active set.

#include <complex.h>
#include <shmem.h>
#include <string.h>

#include "expect.h"

enum { count = 5, room = 4096 };

static int me, pes;
static long *source, *dest;
static long sync_array[SHMEM_SYNC_SIZE];
static long work[count];
static int number(int pe, int i) {
  return pe * 100 + i;
}

static void clear(void) {
  for (int i = 0; i < room; ++i) source[i] = number(me, i), dest[i] = -1;
  shmem_barrier_all();
}

// On a team whose member m is PE first + m * stride of the job.
static void on_team(shmem_team_t team, int first, int stride) {
  const int rank = shmem_team_my_pe(team);
  const int size = shmem_team_n_pes(team);
  const int root = size - 1;
  EXPECT(first + rank * stride == me);
  EXPECT(shmem_long_broadcast(team, dest, source, count, root) == 0);
  for (int i = 0; i < count; ++i) EXPECT(dest[i] == number(first + root * stride, i));
  shmem_team_sync(team);
  EXPECT(shmem_long_fcollect(team, dest, source, count) == 0);
  for (int i = 0; i < count * size; ++i) EXPECT(dest[i] == number(first + i / count * stride, i % count));
  shmem_team_sync(team);
  // Member m gives m + 1 elements.
  EXPECT(shmem_collectmem(team, dest, source, (size_t)(rank + 1) * sizeof(long)) == 0);
  for (int m = 0, at = 0; m < size; ++m) {
    for (int i = 0; i <= m; ++i, ++at) EXPECT(dest[at] == number(first + m * stride, i));
  }
  shmem_team_sync(team);
  EXPECT(shmem_long_alltoall(team, dest, source, count) == 0);
  for (int m = 0; m < size; ++m) {
    for (int i = 0; i < count; ++i) EXPECT(dest[m * count + i] == number(first + m * stride, rank * count + i));
  }
  shmem_team_sync(team);
  EXPECT(shmem_long_alltoalls(team, dest, source, 2, 3, count) == 0);
  for (int m = 0; m < size; ++m) {
    for (int i = 0; i < count; ++i) {
      EXPECT(dest[2 * (m * count + i)] == number(first + m * stride, 3 * (rank * count + i)));
    }
  }
  shmem_team_sync(team);
  long sum = 0, most = -1, least = 1 << 30;
  for (int m = 0; m < size; ++m) {
    const long v = number(first + m * stride, 1);
    sum += v, most = v > most ? v : most, least = v < least ? v : least;
  }
  EXPECT(shmem_long_sum_reduce(team, dest, source, count) == 0 && dest[1] == sum);
  shmem_team_sync(team);
  EXPECT(shmem_long_max_reduce(team, dest, source, count) == 0 && dest[1] == most);
  shmem_team_sync(team);
  EXPECT(shmem_long_min_reduce(team, dest, source, count) == 0 && dest[1] == least);
  shmem_team_sync(team);
  long before = 0;
  for (int m = 0; m < rank; ++m) before += number(first + m * stride, 1);
  EXPECT(shmem_long_sum_exscan(team, dest, source, count) == 0 && dest[1] == before);
  shmem_team_sync(team);
  EXPECT(shmem_long_sum_inscan(team, dest, source, count) == 0 && dest[1] == before + number(me, 1));
  shmem_team_sync(team);
  // In place.
  memcpy(dest, source, count * sizeof(long));
  shmem_team_sync(team);
  EXPECT(shmem_long_sum_exscan(team, dest, dest, count) == 0 && dest[1] == before);
  shmem_team_sync(team);
  memcpy(dest, source, count * sizeof(long));
  shmem_team_sync(team);
  EXPECT(shmem_long_sum_reduce(team, dest, dest, count) == 0 && dest[1] == sum);
  shmem_team_sync(team);
}

static void other_types(void) {
  unsigned char* bytes = shmem_calloc(4, 1);
  double _Complex* numbers = shmem_malloc(2 * sizeof *numbers);
  long double* longs = shmem_malloc(2 * sizeof *longs);
  bytes[0] = (unsigned char)(1 << me), bytes[1] = (unsigned char)~(1 << me);
  numbers[0] = 1 + me * I;
  longs[0] = me + 0.5L;
  shmem_barrier_all();
  shmem_uchar_or_reduce(SHMEM_TEAM_WORLD, &bytes[2], &bytes[0], 1);
  EXPECT(bytes[2] == (1 << pes) - 1);
  shmem_uchar_and_reduce(SHMEM_TEAM_WORLD, &bytes[2], &bytes[1], 1);
  EXPECT(bytes[2] == (unsigned char)~((1 << pes) - 1));
  shmem_uchar_xor_reduce(SHMEM_TEAM_WORLD, &bytes[2], &bytes[0], 1);
  EXPECT(bytes[2] == (1 << pes) - 1);
  shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, &numbers[1], &numbers[0], 1);
  EXPECT(creal(numbers[1]) == pes && cimag(numbers[1]) == pes * (pes - 1) / 2);
  shmem_longdouble_prod_reduce(SHMEM_TEAM_WORLD, &longs[1], &longs[0], 1);
  long double product = 1;
  for (int p = 0; p < pes; ++p) product *= p + 0.5L;
  EXPECT(longs[1] == product);
  shmem_barrier_all();
}

// The source may be written again at once: large blocks in the heap are read where they are, others are copied before.
enum { most_pes = 8, large_most = 8192 };
static void large_alltoall(long* from, long* to) {
  for (int each = 1024; each <= large_most; each *= 2) {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < each * pes; ++i) from[i] = number(me, i) + round;
      EXPECT(shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, (size_t)each) == 0);
      memset(from, 0, (size_t)(each * pes) * sizeof(long));
      int wrong = 0;
      for (int i = 0; i < each * pes; ++i) wrong += to[i] != number(i / each, me * each + i % each) + round;
      EXPECT(wrong == 0);
      shmem_team_sync(SHMEM_TEAM_WORLD);
    }
  }
}

static void large(void) {
  static long of_program[most_pes * large_most];
  long* const from = shmem_malloc((size_t)(large_most * pes) * sizeof(long));
  long* const to = shmem_malloc((size_t)(large_most * pes) * sizeof(long));
  large_alltoall(from, to);
  if (pes <= most_pes) large_alltoall(of_program, to);
  shmem_free(to);
  shmem_free(from);
}

// Every second PE, from the first on.
static void on_set(void) {
  const int size = (pes + 1) / 2;
  if (me % 2 == 0) {
    shmem_barrier(0, 1, size, sync_array);
    shmem_broadcast64(dest, source, count, 0, 0, 1, size, sync_array);
    EXPECT(dest[0] == (me == 0 ? -1 : number(0, 0)));
    shmem_sync(0, 1, size, sync_array);
    shmem_fcollect64(dest, source, count, 0, 1, size, sync_array);
    for (int i = 0; i < count * size; ++i) EXPECT(dest[i] == number(i / count * 2, i % count));
    shmem_barrier(0, 1, size, sync_array);
    shmem_long_sum_to_all(dest, source, count, 0, 1, size, work, sync_array);
    long sum = 0;
    for (int m = 0; m < size; ++m) sum += number(2 * m, 2);
    EXPECT(dest[2] == sum);
    shmem_barrier(0, 1, size, sync_array);
    shmem_alltoall64(dest, source, 1, 0, 1, size, sync_array);
    for (int m = 0; m < size; ++m) EXPECT(dest[m] == number(2 * m, me / 2));
    shmem_barrier(0, 1, size, sync_array);
    shmem_collect32(dest, source, 2, 0, 1, size, sync_array);
    for (int m = 0; m < size; ++m) EXPECT(dest[m] == number(2 * m, 0));
  }
  shmem_barrier_all();
  shmem_int_max_to_all((int*)dest, (int*)source, 1, 0, 0, pes, (int*)work, sync_array);
  EXPECT(*(int*)dest == number(pes - 1, 0));
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  source = shmem_malloc(room * sizeof(long));
  dest = shmem_malloc(room * sizeof(long));
  clear();
  on_team(SHMEM_TEAM_WORLD, 0, 1);
  shmem_team_t part;
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -2, (pes + 1) / 2, NULL, 0, &part) == 0);
  EXPECT((part != SHMEM_TEAM_INVALID) == ((pes - 1 - me) % 2 == 0));
  clear();
  if (part != SHMEM_TEAM_INVALID) on_team(part, pes - 1, -2);
  shmem_team_destroy(part);
  clear();
  on_set();
  clear();
  on_set();
  other_types();
  large();
  shmem_sync_all();
  const int failed = failures();
  shmem_finalize();
  return failed;
}
