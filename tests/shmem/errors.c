// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Calls that cannot be done end the job with a message; the argument says which.

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static int is(const char* wanted, const char* argument) {
  return strcmp(wanted, argument) == 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (is(what, "early")) shmem_barrier_all();
  shmem_init();
  long* word = shmem_malloc(8);
  long local = 0;
  shmem_ctx_t ctx;
  shmem_ctx_create(0, &ctx);
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
  if (is(what, "local")) shmem_long_p(&local, 1, 0);
  if (is(what, "malloc")) shmem_putmem(malloc(8), &local, 8, 0);
  if (is(what, "end")) shmem_putmem(word, &local, 1UL << 40, 0);
  if (is(what, "overflow")) shmem_long_put(word, &local, SIZE_MAX / 4, 0);
  if (is(what, "pe")) shmem_long_p(word, 1, shmem_n_pes());
  if (is(what, "negative")) shmem_long_atomic_add(word, 1, -1);
  shmem_ctx_destroy(ctx);
  if (is(what, "context")) shmem_ctx_long_p(ctx, word, 1, 0);
  if (is(what, "twice")) shmem_ctx_destroy(ctx);
  if (is(what, "invalid")) shmem_ctx_long_p(SHMEM_CTX_INVALID, word, 1, 0);
  shmem_team_destroy(team);
  if (is(what, "team")) shmem_team_sync(team);
  if (is(what, "compare")) shmem_long_wait_until(word, 17, 0);
  if (is(what, "free")) shmem_free(word + 1);
  if (is(what, "set")) {
    long sync = SHMEM_SYNC_VALUE;
    shmem_barrier(0, 1, shmem_n_pes(), &sync);
  }
  if (is(what, "space") && shmem_malloc((size_t)64 << 20) != NULL) return 1;
  if (is(what, "align") && shmem_align((size_t)16 << 20, 8) != NULL) return 1;
  if (is(what, "exit")) shmem_global_exit(7);
  shmem_barrier_all();
  shmem_finalize();
  if (is(what, "late")) shmem_long_p(word, 1, 0);
  return 0;
}
