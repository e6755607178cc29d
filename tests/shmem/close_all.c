// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A program may close all descriptors above 2 after shmem_init, as daemons do, and open files of its own, which stay as
// they are.

#include <fcntl.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

enum { files = 40, bytes = 1 << 20 };

int main(void) {
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes, before = (me + pes - 1) % pes;
  const int last = (int)sysconf(_SC_OPEN_MAX);
  for (int fd = 3; fd < (last < 65536 ? last : 65536); ++fd) close(fd);
  int own[files];
  for (int i = 0; i < files; ++i) {
    char name[] = "shmem_close_all.XXXXXX";
    own[i] = mkstemp(name);
    unlink(name);
    EXPECT(write(own[i], "nine byte", 9) == 9);
  }
  char* there = shmem_malloc(bytes);
  char* here = malloc(bytes);
  memset(here, me + 1, bytes);
  shmem_putmem(there, here, bytes, next);
  shmem_barrier_all();
  EXPECT(there[0] == before + 1 && there[bytes - 1] == before + 1);
  shmem_getmem(here, there, bytes, next);
  EXPECT(here[bytes - 1] == me + 1);
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team);
  here[0] = (char)(me + 1);
  shmem_char_broadcast(team, there, here, bytes, 0);
  EXPECT(there[0] == 1);
  shmem_team_destroy(team);
  shmem_free(there);
  free(here);
  int failed = failures();
  shmem_finalize();
  for (int i = 0; i < files; ++i) {
    char text[16] = "";
    if (pread(own[i], text, sizeof text, 0) == 9 && strcmp(text, "nine byte") == 0) continue;
    fprintf(stderr, "descriptor %d of the program has other contents: %s\n", own[i], text);
    failed = 1;
  }
  return failed;
}
