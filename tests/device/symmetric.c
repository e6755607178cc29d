// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Local buffers of OpenSHMEM's puts, gets and fetching atomics in memory of a device: the heap, and static data, are
// the host's.
//   symmetric PLACE [alone|late|collective|freed]
// alone: without MPI; late: the driver is loaded between the starts of both; the others end the job with a message.
#include <shmem.h>
#include <stdbool.h>
#include <string.h>

#include "place.h"

enum { MOST = 200000, WORDS = MOST / 8 };

static int failures, pe, pes;
static long in_data[WORDS];  // symmetric too

static void expect(bool holds, const char* call, size_t bytes) {
  if (holds) return;
  if (failures++ < 10) fprintf(stderr, "PE %d: %s of %zu bytes gave other data\n", pe, call, bytes);
}

static unsigned char pattern(size_t i, int seed) {
  return (unsigned char)(i * 7 + (size_t)seed * 31 + i / 251);
}

static void fill(unsigned char* memory, size_t bytes, int seed) {
  for (size_t i = 0; i < bytes; ++i) memory[i] = pattern(i, seed);
}

static bool is_filled(const unsigned char* memory, size_t bytes, int seed) {
  for (size_t i = 0; i < bytes; ++i) {
    if (memory[i] != pattern(i, seed)) return false;
  }
  return true;
}

static void device_fill(unsigned char* buffer, size_t bytes, int seed) {
  fill(place_room(buffer, bytes), bytes, seed);
  place_write(buffer, bytes);
}

static bool device_is_filled(unsigned char* buffer, size_t bytes, int seed) {
  return is_filled(place_read(buffer, bytes), bytes, seed);
}

static void blocks(unsigned char* buffer, unsigned char* there, size_t bytes) {
  const int to = (pe + 1) % pes, from = (pe + pes - 1) % pes;
  for (int round = 0; round < 2; ++round) {
    device_fill(buffer, bytes, pe + round);
    memset(there, 0, bytes);
    shmem_barrier_all();
    if (round == 0) {
      shmem_putmem(there, buffer, bytes, to);
    } else {
      shmem_putmem_nbi(there, buffer, bytes, to);
    }
    shmem_barrier_all();
    expect(is_filled(there, bytes, from + round), round == 0 ? "shmem_putmem" : "shmem_putmem_nbi", bytes);
    shmem_barrier_all();
    fill(there, bytes, pe + 50 + round);
    device_fill(buffer, bytes, 99);
    shmem_barrier_all();
    if (round == 0) {
      shmem_getmem(buffer, there, bytes, to);
    } else {
      shmem_getmem_nbi(buffer, there, bytes, to);
      shmem_quiet();
    }
    expect(device_is_filled(buffer, bytes, to + 50 + round), round == 0 ? "shmem_getmem" : "shmem_getmem_nbi", bytes);
    shmem_barrier_all();
  }
}

static void strided(unsigned char* buffer, long* there) {
  enum { ELEMENTS = 20 };
  const int to = (pe + 1) % pes, from = (pe + pes - 1) % pes;
  long* room = place_room(buffer, 3 * ELEMENTS * sizeof(long));
  for (int i = 0; i < 3 * ELEMENTS; ++i) room[i] = 1000 * pe + i;
  place_write(buffer, 3 * ELEMENTS * sizeof(long));
  memset(there, 0, 2 * ELEMENTS * sizeof(long));
  shmem_barrier_all();
  shmem_long_iput(there, (long*)buffer, 2, 3, ELEMENTS, to);
  shmem_barrier_all();
  bool right = true;
  for (int i = 0; i < 2 * ELEMENTS; ++i) right &= there[i] == (i % 2 == 0 ? 1000 * from + i / 2 * 3 : 0);
  expect(right, "shmem_long_iput", ELEMENTS * sizeof(long));
  shmem_long_iget((long*)buffer, there, 3, 2, ELEMENTS, to);
  room = place_read(buffer, 3 * ELEMENTS * sizeof(long));
  right = true;
  for (int i = 0; i < ELEMENTS; ++i) right &= room[3 * i] == 1000 * pe + 3 * i;
  expect(right, "shmem_long_iget", ELEMENTS * sizeof(long));
  shmem_barrier_all();
}

static void signalled(unsigned char* buffer, unsigned char* there, uint64_t* signal) {
  const int to = (pe + 1) % pes, from = (pe + pes - 1) % pes;
  device_fill(buffer, 1000, pe);
  *signal = 0;
  shmem_barrier_all();
  shmem_putmem_signal(there, buffer, 1000, signal, 1, SHMEM_SIGNAL_ADD, to);
  shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1);
  expect(is_filled(there, 1000, from), "shmem_putmem_signal", 1000);
  shmem_barrier_all();
}

static void fetching(unsigned char* buffer, long* counter) {
  *counter = 40 + pe;
  shmem_barrier_all();
  const int to = (pe + 1) % pes;
  shmem_long_atomic_fetch_add_nbi((long*)buffer, counter, 2, to);
  shmem_quiet();
  expect(*(long*)place_read(buffer, sizeof(long)) == 40 + to, "shmem_long_atomic_fetch_add_nbi", sizeof(long));
  shmem_barrier_all();
  shmem_long_atomic_compare_swap_nbi((long*)buffer, counter, 42 + to, 7, to);
  shmem_quiet();
  expect(*(long*)place_read(buffer, sizeof(long)) == 42 + to, "shmem_long_atomic_compare_swap_nbi", sizeof(long));
  shmem_barrier_all();
  expect(*counter == 7, "what shmem_long_atomic_compare_swap_nbi stores", sizeof(long));
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {1, 8, 24, 4096, 100000, MOST};
  if (argc < 2) bench_die("usage: symmetric PLACE [alone|late|collective|freed]");
  const char* what = argc > 2 ? argv[2] : "";
  places.of[0] = places.of[1] = place_named(argv[1], strlen(argv[1]));
  const bool late = strcmp(what, "late") == 0;
  if (late) shmem_init();
  const char* reason = place_by_driver(places.of[0]) ? cu_load() : NULL;
  if (reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    return BENCH_SKIP;
  }
  if (!late) shmem_init();
  if (strcmp(what, "alone") != 0) MPI_Init(&argc, &argv);
  pe = shmem_my_pe();
  pes = shmem_n_pes();
  place_start(pe);
  unsigned char* const buffer = place_buffer(MOST);
  unsigned char* const in_heap = shmem_malloc(MOST);
  if (strcmp(what, "collective") == 0) shmem_broadcastmem(SHMEM_TEAM_WORLD, in_heap, buffer, 64, 0);
  if (strcmp(what, "freed") == 0) {
    place_free(buffer);
    shmem_putmem(in_heap, buffer, 4096, pe);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    blocks(buffer, in_heap, sizes[i]);
    blocks(buffer, (unsigned char*)in_data, sizes[i]);
  }
  strided(buffer, (long*)in_heap);
  strided(buffer, in_data);
  signalled(buffer, in_heap + 8, (uint64_t*)in_heap);
  signalled(buffer, (unsigned char*)(in_data + 1), (uint64_t*)in_data);
  fetching(buffer, (long*)in_heap);
  fetching(buffer, in_data);
  place_free(buffer);
  shmem_free(in_heap);
  if (strcmp(what, "alone") != 0) MPI_Finalize();
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
