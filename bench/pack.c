// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and MPI_Unpack of layouts, in one process. Sizes are bytes of packed data; faces have their own.
#include <mpi.h>
#include <stddef.h>
#include <sys/mman.h>

#include "bench.h"

// A layout, and the same as a list of its blocks in the order of the packed data.
struct layout {
  MPI_Datatype type;
  int count;  // elements
  int blocks;
  size_t* offset;
  size_t* bytes;
  size_t span;  // bytes of the buffer that are needed
};

static unsigned char *grid, *packed, *back;

static struct layout new_layout(int blocks) {
  struct layout l = {.count = 1, .blocks = 0};
  l.offset = malloc((size_t)blocks * sizeof *l.offset);
  l.bytes = malloc((size_t)blocks * sizeof *l.bytes);
  if (!l.offset || !l.bytes) bench_die("out of memory");
  return l;
}

static void add_block(struct layout* l, size_t offset, size_t bytes) {
  l->offset[l->blocks] = offset;
  l->bytes[l->blocks++] = bytes;
  if (offset + bytes > l->span) l->span = offset + bytes;
}

static void free_layout(struct layout* l) {
  MPI_Type_free(&l->type);
  free(l->offset);
  free(l->bytes);
}

static struct layout make_contiguous(size_t size) {
  struct layout l = new_layout(1);
  MPI_Type_contiguous((int)(size / sizeof(double)), MPI_DOUBLE, &l.type);
  add_block(&l, 0, size);
  return l;
}

// Blocks of `length` doubles with as large gaps.
static struct layout make_vector(size_t size, int length) {
  const int blocks = (int)(size / ((size_t)length * sizeof(double)));
  struct layout l = new_layout(blocks);
  MPI_Type_vector(blocks, length, 2 * length, MPI_DOUBLE, &l.type);
  for (int i = 0; i < blocks; ++i) {
    add_block(&l, (size_t)i * 2 * (size_t)length * sizeof(double), (size_t)length * sizeof(double));
  }
  return l;
}

// Rows of 8 blocks of 2 doubles.
static struct layout make_nested(size_t size) {
  enum { ROW = 8, LENGTH = 2, STRIDE = 5, PITCH = 50 };
  const int rows = (int)(size / (ROW * LENGTH * sizeof(double)));
  struct layout l = new_layout(rows * ROW);
  MPI_Datatype row;
  MPI_Type_vector(ROW, LENGTH, STRIDE, MPI_DOUBLE, &row);
  MPI_Type_create_hvector(rows, 1, PITCH * sizeof(double), row, &l.type);
  MPI_Type_free(&row);
  for (size_t i = 0; i < (size_t)rows; ++i) {
    for (size_t j = 0; j < ROW; ++j) {
      add_block(&l, (i * PITCH + j * STRIDE) * sizeof(double), LENGTH * sizeof(double));
    }
  }
  return l;
}

// Blocks of 1 to 8 doubles with gaps of 1 to 8, from a fixed sequence.
static struct layout make_indexed(size_t size) {
  int left = (int)(size / sizeof(double)), place = 0;
  struct layout l = new_layout(left);
  int* lengths = malloc((size_t)left * sizeof *lengths);
  int* places = malloc((size_t)left * sizeof *places);
  if (!lengths || !places) bench_die("out of memory");
  unsigned sequence = 12345;
  while (left > 0) {
    sequence = sequence * 1664525u + 1013904223u;
    int length = 1 + (int)(sequence >> 29);
    if (length > left) length = left;
    lengths[l.blocks] = length;
    places[l.blocks] = place;
    add_block(&l, (size_t)place * sizeof(double), (size_t)length * sizeof(double));
    place += length + 1 + (int)(sequence >> 26 & 7);
    left -= length;
  }
  MPI_Type_indexed(l.blocks, lengths, places, MPI_DOUBLE, &l.type);
  free(lengths);
  free(places);
  return l;
}

struct particle {
  double position[3];
  int kind;
  double charge;
  char name[5];
  float mass;
};

static struct layout make_struct(size_t size) {
  const MPI_Aint offsets[] = {offsetof(struct particle, position), offsetof(struct particle, kind),
                              offsetof(struct particle, charge), offsetof(struct particle, name),
                              offsetof(struct particle, mass)};
  const int lengths[] = {3, 1, 1, 5, 1};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT};
  const size_t bytes[] = {24, 4, 8, 5, 4};
  enum { MEMBERS = 5, DATA = 45 };
  const int particles = (int)(size / DATA);
  struct layout l = new_layout(particles * MEMBERS);
  MPI_Datatype one;
  MPI_Type_create_struct(MEMBERS, lengths, offsets, types, &one);
  MPI_Type_create_resized(one, 0, sizeof(struct particle), &l.type);
  MPI_Type_free(&one);
  l.count = particles;
  for (size_t i = 0; i < (size_t)particles; ++i) {
    for (int j = 0; j < MEMBERS; ++j) add_block(&l, i * sizeof(struct particle) + (size_t)offsets[j], bytes[j]);
  }
  return l;
}

enum { EDGE = 128 };

// A face of a cube of doubles: the one across dimension `across`, of which the last runs fastest.
static struct layout make_face(int across) {
  int sizes[3] = {EDGE, EDGE, EDGE}, box[3] = {EDGE, EDGE, EDGE}, starts[3] = {0, 0, 0};
  box[across] = 1;
  starts[across] = 1;
  struct layout l = new_layout(EDGE * EDGE);
  MPI_Type_create_subarray(3, sizes, box, starts, MPI_ORDER_C, MPI_DOUBLE, &l.type);
  for (int i = 0; i < box[0]; ++i) {
    for (int j = 0; j < box[1]; ++j) {
      const size_t row = (size_t)((i + starts[0]) * EDGE + j + starts[1]) * EDGE + (size_t)starts[2];
      add_block(&l, row * sizeof(double), (size_t)box[2] * sizeof(double));
    }
  }
  return l;
}

static void check(const struct layout* l, size_t size) {
  int position = 0;
  bench_fill(grid, l->span, 3);
  MPI_Pack(grid, l->count, l->type, packed, (int)size, &position, MPI_COMM_SELF);
  const unsigned char* at = packed;
  for (int i = 0; i < l->blocks; at += l->bytes[i++]) {
    if (memcmp(at, grid + l->offset[i], l->bytes[i]) != 0) bench_die("MPI_Pack gave wrong bytes");
  }
  if ((size_t)position != size || at != packed + size) bench_die("MPI_Pack packed another number of bytes");
  memset(back, 0, l->span);
  position = 0;
  MPI_Unpack(packed, (int)size, &position, back, l->count, l->type, MPI_COMM_SELF);
  size_t outside = 0;
  for (int i = 0; i < l->blocks; ++i) {
    if (memcmp(back + l->offset[i], grid + l->offset[i], l->bytes[i]) != 0) bench_die("MPI_Unpack gave wrong bytes");
    memset(back + l->offset[i], 0, l->bytes[i]);
  }
  for (size_t i = 0; i < l->span; ++i) outside |= back[i];
  if (outside != 0) bench_die("MPI_Unpack wrote between the blocks");
}

// In huge pages where the system lends them: which physical pages a run gets otherwise decides rows of large strides.
static unsigned char* new_buffer(size_t bytes) {
  enum { HUGE_PAGE = 2 << 20 };
  bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  unsigned char* p = aligned_alloc(HUGE_PAGE, bytes);
  if (!p) bench_die("out of memory");
  madvise(p, bytes, MADV_HUGEPAGE);
  memset(p, 1, bytes);
  return p;
}

enum action { PACK, UNPACK, COPY };

static double repeat(const struct layout* l, size_t size, enum action action, int iterations) {
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) {
    int position = 0;
    if (action == PACK) {
      MPI_Pack(grid, l->count, l->type, packed, (int)size, &position, MPI_COMM_SELF);
    } else if (action == UNPACK) {
      MPI_Unpack(packed, (int)size, &position, grid, l->count, l->type, MPI_COMM_SELF);
    } else {
      memcpy(packed, grid, size);
      __asm__ volatile("" : : "r"(packed) : "memory");
    }
  }
  return bench_now_us() - start;
}

static void time_action(const char* name, const struct layout* l, size_t size, enum action action,
                        const struct bench_options* options) {
  enum { TRIES = 8 };
  repeat(l, size, action, TRIES);
  const int iterations = bench_iterations(options, repeat(l, size, action, TRIES), TRIES);
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = (double)size * iterations / repeat(l, size, action, iterations);
  bench_emit(name, size, bench_median(blocks, BENCH_BLOCKS) * 1e-3, "GB/s");
}

static void measure(const char* name, struct layout l, const struct bench_options* options) {
  char title[64];
  size_t size = 0;
  for (int i = 0; i < l.blocks; ++i) size += l.bytes[i];
  MPI_Type_commit(&l.type);
  check(&l, size);
  snprintf(title, sizeof title, "pack_%s", name);
  time_action(title, &l, size, PACK, options);
  snprintf(title, sizeof title, "unpack_%s", name);
  time_action(title, &l, size, UNPACK, options);
  free_layout(&l);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8192, 1 << 20};
  static const int lengths[] = {1, 2, 4, 8, 16, 64};
  const struct bench_options options = bench_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  size_t largest = EDGE * EDGE * EDGE * sizeof(double);
  MPI_Init(&argc, &argv);
  for (int i = 0; i < options.size_count; ++i) {
    if (options.sizes[i] < 1024 || options.sizes[i] > INT32_MAX / 16)
      bench_die("a size is not within 1 KiB and 128 MiB");
    if (options.sizes[i] * 9 > largest) largest = options.sizes[i] * 9;
  }
  grid = new_buffer(largest);
  packed = new_buffer(largest);
  back = new_buffer(largest);
  for (int i = 0; i < options.size_count; ++i) {
    const size_t size = options.sizes[i];
    time_action("memcpy", NULL, size, COPY, &options);
    measure("contiguous", make_contiguous(size), &options);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k) {
      char name[32];
      snprintf(name, sizeof name, "vector.%d", lengths[k]);
      measure(name, make_vector(size, lengths[k]), &options);
    }
    measure("nested", make_nested(size), &options);
    measure("indexed", make_indexed(size), &options);
    measure("struct", make_struct(size), &options);
  }
  time_action("memcpy", NULL, EDGE * EDGE * sizeof(double), COPY, &options);
  measure("face_yz", make_face(0), &options);
  measure("face_xz", make_face(1), &options);
  measure("face_xy", make_face(2), &options);
  free(grid);
  free(packed);
  free(back);
  MPI_Finalize();
  return 0;
}
