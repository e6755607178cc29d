// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Writes and reads of one file by all ranks, MB/s of all together: contiguous blocks, blocks of 4 KiB in turn, a part
// of a 3-D array (collective), and 4 KiB at places of each rank's own (independent). The file is opened before and
// closed after, neither of which counts; data are in the page cache. Contents are checked once for each pattern. Then
// nonblocking reads of 4 KiB at shuffled places of each rank's own, many at the same time: "scattered", from the page
// cache, and "stored", after the system was asked to let go of what it has cached.
//   files [--quick] [--folder=DIR] [--patterns=contiguous,in_turn,array,small,scattered,stored]
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include "bench.h"

enum { BLOCK = 4096, BYTES = 8 << 20, EDGE = 64 };  // of each rank; EDGE: doubles along an edge of its part

struct job {
  int rank;
  int ranks;
  MPI_File file;
  unsigned char* data;
  MPI_Datatype filetype;  // a view for the pattern
  MPI_Offset displacement;
  size_t bytes;
};

static void need(int code, const char* call) {
  if (code != MPI_SUCCESS) bench_die(call);
}

// ---- Views

static void contiguous(struct job* j) {
  j->bytes = BYTES;
  j->displacement = (MPI_Offset)j->rank * BYTES;
  MPI_Type_dup(MPI_BYTE, &j->filetype);
}
static void in_turn(struct job* j) {
  j->bytes = BYTES;
  j->displacement = (MPI_Offset)j->rank * BLOCK;
  MPI_Datatype block;
  MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)BLOCK * j->ranks, &j->filetype);
  MPI_Type_free(&block);
}
// Parts of a cube, cut across its two last dimensions.
static void array(struct job* j) {
  int grid[2] = {0, 0};
  MPI_Dims_create(j->ranks, 2, grid);
  const int whole[3] = {EDGE, EDGE * grid[0], EDGE * grid[1]};
  const int part[3] = {EDGE, EDGE, EDGE};
  const int start[3] = {0, j->rank / grid[1] * EDGE, j->rank % grid[1] * EDGE};
  j->bytes = (size_t)EDGE * EDGE * EDGE * 8;
  j->displacement = 0;
  MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &j->filetype);
}

// ---- Accesses

static void write_all(struct job* j) {
  need(MPI_File_write_at_all(j->file, 0, j->data, (int)j->bytes, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_write_at_all");
}
static void read_all(struct job* j) {
  need(MPI_File_read_at_all(j->file, 0, j->data, (int)j->bytes, MPI_BYTE, MPI_STATUS_IGNORE), "MPI_File_read_at_all");
}
static void write_small(struct job* j) {
  for (size_t at = 0; at < j->bytes; at += BLOCK) {
    need(MPI_File_write_at(j->file, (MPI_Offset)at, j->data + at, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE),
         "MPI_File_write_at");
  }
}
static void read_small(struct job* j) {
  for (size_t at = 0; at < j->bytes; at += BLOCK) {
    need(MPI_File_read_at(j->file, (MPI_Offset)at, j->data + at, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE),
         "MPI_File_read_at");
  }
}

struct pattern {
  const char* name;
  void (*view)(struct job* j);
  void (*write)(struct job* j);
  void (*read)(struct job* j);
};
static const struct pattern patterns[] = {
    {"contiguous", contiguous, write_all, read_all},
    {"in_turn", in_turn, write_all, read_all},
    {"array", array, write_all, read_all},
    {"small", contiguous, write_small, read_small},
};

// MB/s of all ranks, from the first one's beginning to the last one's end.
static double measure(struct job* j, void (*access)(struct job* j), int times) {
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_now_us();
    for (int i = 0; i < times; ++i) access(j);
    MPI_Barrier(MPI_COMM_WORLD);
    blocks[b] = (double)j->bytes * j->ranks * times / (bench_now_us() - start);
  }
  return bench_median(blocks, BENCH_BLOCKS);
}

static void run(struct job* j, const struct pattern* pattern, const char* path, int times) {
  pattern->view(j);
  MPI_Type_commit(&j->filetype);
  need(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &j->file),
       "MPI_File_open");
  const MPI_Datatype etype = pattern->view == array ? MPI_DOUBLE : MPI_BYTE;
  need(MPI_File_set_view(j->file, j->displacement, etype, j->filetype, "native", MPI_INFO_NULL), "MPI_File_set_view");
  const unsigned seed = 11 * (unsigned)j->rank + 3;
  bench_fill(j->data, j->bytes, seed);
  pattern->write(j);
  memset(j->data, 0, j->bytes);
  pattern->read(j);
  bench_check(j->data, j->bytes, seed);
  const double writes = measure(j, pattern->write, times), reads = measure(j, pattern->read, times);
  char name[64];
  snprintf(name, sizeof name, "file_write_%s", pattern->name);
  if (j->rank == 0) bench_emit(name, j->bytes, writes, "MB/s");
  snprintf(name, sizeof name, "file_read_%s", pattern->name);
  if (j->rank == 0) bench_emit(name, j->bytes, reads, "MB/s");
  MPI_File_close(&j->file);
  MPI_Type_free(&j->filetype);
}

// ---- Many reads at the same time

enum { DEPTH = 128 };

static void read_scattered(struct job* j) {
  const size_t blocks = j->bytes / BLOCK;
  MPI_Request requests[DEPTH];
  for (size_t done = 0; done < blocks; done += DEPTH) {
    for (size_t i = 0; i < DEPTH; ++i) {
      const size_t at = (done + i) * 1237 % blocks * BLOCK;  // an odd factor: each place once
      need(MPI_File_iread_at(j->file, (MPI_Offset)at, j->data + at, BLOCK, MPI_BYTE, &requests[i]),
           "MPI_File_iread_at");
    }
    need(MPI_Waitall(DEPTH, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
  }
}

static void run_scattered(struct job* j, const char* path, int stored) {
  contiguous(j);
  MPI_Type_commit(&j->filetype);
  need(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &j->file),
       "MPI_File_open");
  need(MPI_File_set_view(j->file, j->displacement, MPI_BYTE, j->filetype, "native", MPI_INFO_NULL),
       "MPI_File_set_view");
  bench_fill(j->data, j->bytes, 5);
  write_all(j);
  need(MPI_File_sync(j->file), "MPI_File_sync");
  memset(j->data, 0, j->bytes);
  read_scattered(j);
  bench_check(j->data, j->bytes, 5);
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    const int fd = stored ? open(path, O_RDONLY) : -1;
    if (fd >= 0) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (fd >= 0) close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_now_us();
    read_scattered(j);
    MPI_Barrier(MPI_COMM_WORLD);
    blocks[b] = (double)j->bytes * j->ranks / (bench_now_us() - start);
  }
  const double reads = bench_median(blocks, BENCH_BLOCKS);
  if (j->rank == 0) bench_emit(stored ? "file_iread_stored" : "file_iread_scattered", BLOCK, reads, "MB/s");
  MPI_File_close(&j->file);
  MPI_Type_free(&j->filetype);
}

// Whether a list of names, with commas between them, has this one; no list has all.
static int has_name(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = list; at != NULL; at = strchr(at, ',') == NULL ? NULL : strchr(at, ',') + 1) {
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return 1;
  }
  return list == NULL;
}

int main(int argc, char** argv) {
  const char* folder = ".";
  const char* wanted = NULL;
  int times = 4;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--quick") == 0) {
      times = 1;
    } else if (strncmp(argv[i], "--folder=", 9) == 0) {
      folder = argv[i] + 9;
    } else if (strncmp(argv[i], "--patterns=", 11) == 0) {
      wanted = argv[i] + 11;
    } else {
      bench_die("it takes --quick, --folder=PATH and --patterns=NAMES alone");
    }
  }
  MPI_Init(&argc, &argv);
  struct job j = {.data = bench_buffer(BYTES)};
  MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
  (void)bench_rank_of(2);
  char path[512];
  snprintf(path, sizeof path, "%s/weft_bench_files", folder);
  for (size_t p = 0; p < sizeof patterns / sizeof *patterns; ++p) {
    if (has_name(wanted, patterns[p].name)) run(&j, &patterns[p], path, times);
  }
  for (int stored = 0; stored <= 1; ++stored) {
    if (has_name(wanted, stored ? "stored" : "scattered")) run_scattered(&j, path, stored);
  }
  MPI_Finalize();
  return 0;
}
