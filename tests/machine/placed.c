// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Where memory lies once it is touched, as the kernel tells it. Arguments: bytes, and how to get them: alloc_mem,
// allocate, allocate_shared, symmetric (memory of OpenSHMEM's heap), or next, which is allocate_shared where the next
// rank touches a rank's part. A rank prints one line: "rank 0: 64 on node 2; affinity HBM, nodes 2, pages base of 4K,
// fallback (none)".
#include <errno.h>
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_nodes = 8 };

static int rank, ranks;

static const char* told(MPI_Win win, const char* key, char* text) {
  MPI_Info info;
  int length = MPI_MAX_INFO_VAL, flag = 0;
  MPI_Win_get_info(win, &info);
  MPI_Info_get_string(info, key, &length, text, &flag);
  MPI_Info_free(&info);
  return flag ? text : "(none)";
}

static void print_places(char* memory, size_t bytes, MPI_Win win) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = bytes / page;
  void** pages = malloc(count * sizeof *pages);
  int* status = malloc(count * sizeof *status);
  size_t on[most_nodes] = {0}, elsewhere = 0;
  for (size_t i = 0; i < count; ++i) pages[i] = memory + i * page;
  if (syscall(SYS_move_pages, 0, count, pages, NULL, status, 0) != 0) {
    printf("rank %d: move_pages: %s\n", rank, strerror(errno));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (status[i] >= 0 && status[i] < most_nodes) {
      ++on[status[i]];
    } else {
      ++elsewhere;
    }
  }
  free(pages);
  free(status);
  char line[4 * MPI_MAX_INFO_VAL], text[MPI_MAX_INFO_VAL];
  int used = snprintf(line, sizeof line, "rank %d:", rank);
  const char* comma = "";
  for (int node = 0; node < most_nodes; ++node) {
    if (on[node] == 0) continue;
    used += snprintf(line + used, sizeof line - (size_t)used, "%s %zu on node %d", comma, on[node], node);
    comma = ",";
  }
  if (elsewhere != 0) used += snprintf(line + used, sizeof line - (size_t)used, "%s %zu nowhere", comma, elsewhere);
  if (win != MPI_WIN_NULL) {
    used += snprintf(line + used, sizeof line - (size_t)used, "; affinity %s", told(win, "weft_mem_affinity", text));
    used += snprintf(line + used, sizeof line - (size_t)used, ", nodes %s", told(win, "weft_mem_nodes", text));
    used += snprintf(line + used, sizeof line - (size_t)used, ", pages %s", told(win, "weft_mem_pages", text));
    used += snprintf(line + used, sizeof line - (size_t)used, " of %s", told(win, "weft_mem_page_size", text));
    snprintf(line + used, sizeof line - (size_t)used, ", fallback %s", told(win, "weft_mem_fallback", text));
  }
  printf("%s\n", line);
}

int main(int argc, char** argv) {
  const size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
  const char* how = argc > 2 ? argv[2] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(how, "symmetric") == 0) {
    shmem_init();
    char* memory = shmem_align((size_t)sysconf(_SC_PAGESIZE), bytes);
    if (memory == NULL) {
      printf("rank %d: the heap is full\n", rank);
      return 1;
    }
    memset(memory, 1, bytes);
    print_places(memory, bytes, MPI_WIN_NULL);
    shmem_free(memory);
    shmem_finalize();
    MPI_Finalize();
    return 0;
  }
  MPI_Win win = MPI_WIN_NULL;
  char* memory = NULL;
  const int next = strcmp(how, "next") == 0, alloc_mem = strcmp(how, "alloc_mem") == 0;
  if (alloc_mem) {
    MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory);
    MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
  } else if (strcmp(how, "allocate") == 0) {
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  } else {
    MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  }
  char* touched = memory;
  if (next) {
    MPI_Aint size;
    int unit;
    MPI_Win_shared_query(win, (rank + 1) % ranks, &size, &unit, &touched);
  }
  memset(touched, 1, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  // The kernel tells of pages that are mapped here.
  volatile char* own = memory;
  for (size_t i = 0; i < bytes; i += 4096) own[i] = own[i];
  print_places(memory, bytes, win);
  MPI_Win_free(&win);
  if (alloc_mem) MPI_Free_mem(memory);
  MPI_Finalize();
  return 0;
}
