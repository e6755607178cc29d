// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Where the buffers of a program lie: `-d PLACE`, or `-d PLACE,PLACE` for rank 0 and for the others.
//   host          the processor's memory (the default)
//   cuda          memory of a device; rank r takes device r, of those there are in turn
//   cuda:host     memory of the host that the driver has pinned
//   cuda:managed  memory that the driver moves between host and device
//   mock          memory of Weft's mock (WEFT_DEVICES=mock)
// The driver itself allocates, fills and reads them, so that one binary measures every MPI library.
#ifndef WEFT_BENCH_PLACE_H
#define WEFT_BENCH_PLACE_H

#include <mpi.h>

#include "device.h"

enum place { PLACE_HOST, PLACE_CUDA, PLACE_CUDA_HOST, PLACE_CUDA_MANAGED, PLACE_MOCK };

static struct {
  enum place of[2];        // rank 0, the others
  enum place mine;         // of this rank, once place_start() has been called
  unsigned char* scratch;  // where data of a device are seen
  size_t scratch_bytes;
} places;

static inline enum place place_named(const char* name, size_t length) {
  static const char* const names[] = {"host", "cuda", "cuda:host", "cuda:managed", "mock"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0) return (enum place)i;
  }
  bench_die("-d takes host, cuda, cuda:host, cuda:managed or mock; two of them with a comma between");
}

static inline int place_by_driver(enum place place) {
  return place != PLACE_HOST && place != PLACE_MOCK;
}

// Before MPI starts: takes `-d` out of the arguments, and loads the driver if it is needed, for which libraries look
// when they start. The rest as bench_parse does it.
static inline struct bench_options place_parse(int argc, char** argv, const size_t* sizes, int count) {
  char* rest[64];
  int rest_count = 0;
  for (int i = 0; i < argc; ++i) {
    if (strcmp(argv[i], "-d") != 0) {
      if (rest_count < 64) rest[rest_count++] = argv[i];
      continue;
    }
    if (++i == argc) bench_die("-d is followed by a place");
    const char* comma = strchr(argv[i], ',');
    places.of[0] = place_named(argv[i], comma ? (size_t)(comma - argv[i]) : strlen(argv[i]));
    places.of[1] = comma ? place_named(comma + 1, strlen(comma + 1)) : places.of[0];
  }
  if (place_by_driver(places.of[0]) || place_by_driver(places.of[1])) {
    const char* reason = cu_load();
    if (reason) {
      fprintf(stderr, "bench: skipped, %s\n", reason);
      exit(BENCH_SKIP);
    }
  }
  return bench_parse(rest_count, rest, sizes, count);
}

static inline void place_start(int rank) {
  places.mine = places.of[rank > 0];
  const char* reason = place_by_driver(places.mine) ? cu_open(rank) : NULL;
  if (reason) bench_die(reason);
}

static inline int place_is_host(void) {
  return places.mine == PLACE_HOST;
}

// Whether the processor may touch it.
static inline int place_is_seen(void) {
  return places.mine != PLACE_CUDA && places.mine != PLACE_MOCK;
}

static inline void place_copy(void* to, const void* from, size_t bytes) {
  if (places.mine == PLACE_MOCK) {  // the mock's copies are MPI's
    MPI_Sendrecv(from, (int)bytes, MPI_BYTE, 0, 97, to, (int)bytes, MPI_BYTE, 0, 97, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  } else {
    cu_need(cu.Memcpy((uintptr_t)to, (uintptr_t)from, bytes), "cuMemcpy");
    cu_need(cu.StreamSynchronize(NULL), "cuStreamSynchronize");
  }
}

// Returns memory where the processor sees data of the buffer: the buffer itself, or memory for a copy.
static inline void* place_room(void* buffer, size_t bytes) {
  if (place_is_seen()) return buffer;
  if (places.scratch_bytes < bytes) {
    free(places.scratch);
    places.scratch = bench_buffer(bytes);
    places.scratch_bytes = bytes;
  }
  return places.scratch;
}

// Copies what was written to the memory of place_room() into the buffer.
static inline void place_write(void* buffer, size_t bytes) {
  if (!place_is_seen() && bytes > 0) place_copy(buffer, places.scratch, bytes);
}

static inline void* place_read(void* buffer, size_t bytes) {
  void* room = place_room(buffer, bytes);
  if (!place_is_seen() && bytes > 0) place_copy(room, buffer, bytes);
  return room;
}

static inline void place_fill(void* buffer, size_t bytes, unsigned seed) {
  bench_fill(place_room(buffer, bytes), bytes, seed);
  place_write(buffer, bytes);
}

static inline void place_check(void* buffer, size_t bytes, unsigned seed) {
  bench_check(place_read(buffer, bytes), bytes, seed);
}

// Does what bench_write does; the driver copies the data to memory that the processor cannot touch.
static inline void place_renew(void* buffer, size_t bytes, uint64_t turn) {
  bench_write(place_room(buffer, bytes), bytes, turn);
  place_write(buffer, bytes);
}

static inline void place_check_renewed(void* buffer, size_t bytes, uint64_t turn) {
  bench_check_written(place_read(buffer, bytes), bytes, turn);
}

static inline unsigned char* place_buffer(size_t bytes) {
  cu_pointer there = 0;
  void* memory = NULL;
  MPI_Info info;
  if (bytes == 0) bytes = 1;
  switch (places.mine) {
    case PLACE_HOST:
      return bench_buffer(bytes);
    case PLACE_CUDA:
      cu_need(cu.MemAlloc(&there, bytes), "cuMemAlloc");
      memory = (void*)(uintptr_t)there;
      break;
    case PLACE_CUDA_HOST:
      cu_need(cu.MemHostAlloc(&memory, bytes, 0), "cuMemHostAlloc");
      break;
    case PLACE_CUDA_MANAGED:
      cu_need(cu.MemAllocManaged(&there, bytes, CU_ATTACH_GLOBAL), "cuMemAllocManaged");
      memory = (void*)(uintptr_t)there;
      break;
    case PLACE_MOCK:
      MPI_Info_create(&info);
      MPI_Info_set(info, "weft_mem_device", "mock");
      MPI_Alloc_mem((MPI_Aint)bytes, info, &memory);
      MPI_Info_free(&info);
      break;
  }
  memset(place_room(memory, bytes), 1, bytes);
  place_write(memory, bytes);
  return memory;
}

// Before MPI_Finalize.
static inline void place_free(void* memory) {
  switch (places.mine) {
    case PLACE_HOST:
      free(memory);
      break;
    case PLACE_CUDA_HOST:
      cu_need(cu.MemFreeHost(memory), "cuMemFreeHost");
      break;
    case PLACE_MOCK:
      MPI_Free_mem(memory);
      break;
    default:
      cu_need(cu.MemFree((uintptr_t)memory), "cuMemFree");
  }
  free(places.scratch);
  places.scratch = NULL;
  places.scratch_bytes = 0;
}

#endif
