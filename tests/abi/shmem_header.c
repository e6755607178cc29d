/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* shmem.h is complete by itself: handles in initialisers, constants in constant expressions. */
#include <shmem.h>

shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
shmem_team_t team = SHMEM_TEAM_WORLD;
long sync_array[SHMEM_SYNC_SIZE];
int compared[SHMEM_CMP_EQ + SHMEM_CMP_NE + SHMEM_SIGNAL_ADD];

long use(long* word) {
  shmem_team_config_t config;
  config.num_contexts = 1;
  shmem_long_p(word, config.num_contexts, 0);
  pshmem_ctx_long_p(ctx, word, 1, 0);
  return shmem_long_g(word, 0);
}
