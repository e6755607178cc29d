// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Start and end, as often as the program likes; nested; thread levels; by start_pes, which needs no end.

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static void work(void) {
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  long* word = shmem_malloc(sizeof *word);
  shmem_long_p(word, me, (me + 1) % pes);
  shmem_barrier_all();
  EXPECT(*word == (me + pes - 1) % pes);
  shmem_barrier_all();
}

int main(int argc, char** argv) {
  int on = 5, provided = -1, major = 0, minor = 0, failed;
  char name[SHMEM_MAX_NAME_LEN];
  if (argc > 1 && strcmp(argv[1], "start_pes") == 0) {
    start_pes(0);
    start_pes(0);
    work();
    EXPECT(_my_pe() == shmem_my_pe() && _num_pes() == shmem_n_pes());
    return failures();
  }
  shmem_query_initialized(&on);
  if (on != 0) return 1;
  for (int round = 0; round < 3; ++round) {
    shmem_init();
    if (shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided) != 0) return 1;
    shmem_query_initialized(&on);
    EXPECT(on != 0);
    work();
    shmem_finalize();
    shmem_query_initialized(&on);
    EXPECT(on != 0);
    work();
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);  // goes with the end
    shmem_query_thread(&provided);
    EXPECT(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
    failed = failures();
    shmem_finalize();
    shmem_query_initialized(&on);
    if (on != 0 || failed) return 1;
  }
  shmem_info_get_version(&major, &minor);
  shmem_info_get_name(name);
  return !(major == 1 && minor == 6 && strcmp(name, SHMEM_VENDOR_STRING) == 0);
}
