// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Teams of teams, their numbers, and contexts on them, whose PE numbers are the team's.

#include <shmem.h>

#include "expect.h"

static int me, pes;

static void predefined(void) {
  EXPECT(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me && shmem_team_n_pes(SHMEM_TEAM_WORLD) == pes);
  EXPECT(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
  const int near = shmem_team_n_pes(SHMEM_TEAM_SHARED);
  EXPECT(near >= 1 && near <= pes);
  long* word = shmem_malloc(sizeof *word);
  for (int m = 0; m < near; ++m) {
    const int pe = shmem_team_translate_pe(SHMEM_TEAM_SHARED, m, SHMEM_TEAM_WORLD);
    EXPECT(pe >= 0 && pe < pes && shmem_ptr(word, pe) != NULL);
    EXPECT(shmem_team_ptr(SHMEM_TEAM_SHARED, word, m) == shmem_ptr(word, pe));
    EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) == m);
  }
  EXPECT(shmem_team_ptr(SHMEM_TEAM_INVALID, word, 0) == NULL);
  EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1);
  EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pes, SHMEM_TEAM_WORLD) == -1);
  shmem_free(word);
}

// The odd PEs, and of these every second one in turn.
static void nested(void) {
  shmem_team_t odd = SHMEM_TEAM_WORLD, some;
  shmem_team_config_t config = {.num_contexts = 3};
  const int count = pes / 2;
  if (count == 0) {
    EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, 0, NULL, 0, &odd) != 0 && odd == SHMEM_TEAM_INVALID);
    return;
  }
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, count, &config, SHMEM_TEAM_NUM_CONTEXTS, &odd) == 0);
  EXPECT((odd != SHMEM_TEAM_INVALID) == (me % 2 == 1));
  if (odd != SHMEM_TEAM_INVALID) {
    shmem_team_config_t got = {0};
    EXPECT(shmem_team_get_config(odd, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 3);
    EXPECT(shmem_team_split_strided(odd, count - 1, -2, (count + 1) / 2, NULL, 0, &some) == 0);
    if (some != SHMEM_TEAM_INVALID) {
      const int rank = shmem_team_my_pe(some);
      EXPECT(2 * (count - 1 - 2 * rank) + 1 == me);
      EXPECT(shmem_team_translate_pe(some, rank, odd) == count - 1 - 2 * rank);
      EXPECT(shmem_team_translate_pe(odd, shmem_team_my_pe(odd), some) == rank);
      EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, some) == -1);
      shmem_team_destroy(some);
    }
  }
  shmem_team_split_strided(odd, 0, 1, 1, NULL, 0, &some);
  EXPECT(odd != SHMEM_TEAM_INVALID || some == SHMEM_TEAM_INVALID);
  shmem_team_destroy(some);
  shmem_team_destroy(odd);
}

static void grid(void) {
  for (int width = 1; width <= pes + 1; ++width) {
    shmem_team_t row, column;
    EXPECT(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &row, NULL, 0, &column) == 0);
    const int real = width < pes ? width : pes;
    EXPECT(shmem_team_my_pe(row) == me % real && shmem_team_my_pe(column) == me / real);
    const int left = pes - me / real * real;
    EXPECT(shmem_team_n_pes(row) == (left < real ? left : real));
    EXPECT(shmem_team_translate_pe(column, 0, SHMEM_TEAM_WORLD) == me % real);
    shmem_team_sync(row);
    shmem_team_sync(column);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
  }
}

static void contexts(void) {
  long* word = shmem_calloc(2, sizeof *word);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  shmem_team_t team = SHMEM_TEAM_INVALID, reversed;
  EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &reversed) == 0);
  EXPECT(shmem_team_create_ctx(reversed, SHMEM_CTX_PRIVATE, &ctx) == 0);
  EXPECT(shmem_ctx_get_team(ctx, &team) == 0 && team == reversed);
  EXPECT(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team) == 0 && team == SHMEM_TEAM_WORLD);
  EXPECT(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 && team == SHMEM_TEAM_INVALID);
  shmem_ctx_long_p(ctx, word, 1000 + me, me);  // its member `me` is PE pes - 1 - me
  shmem_ctx_quiet(ctx);
  shmem_barrier_all();
  EXPECT(*word == 1000 + pes - 1 - me);
  EXPECT(shmem_ctx_long_g(ctx, word, me) == 1000 + me);
  EXPECT(shmem_ctx_long_atomic_fetch_add(ctx, &word[1], 1, pes - 1) <= pes);  // PE 0's
  const int zero = 0;
  shmem_ctx_pe_quiet(ctx, &zero, 1);
  shmem_ctx_fence(ctx);
  shmem_barrier_all();
  EXPECT(me != 0 || word[1] == pes);
  shmem_ctx_destroy(ctx);
  EXPECT(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
  // Many, twice; sessions on them.
  enum { many = 500 };
  static shmem_ctx_t all[many];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < many; ++i) EXPECT(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &all[i]) == 0);
    for (int i = 0; i < many; ++i) EXPECT(i == 0 || all[i] != all[i - 1]);
    shmem_ctx_session_config_t session = {.total_ops = 100};
    shmem_ctx_session_start(all[0], SHMEM_CTX_SESSION_BATCH, &session, SHMEM_CTX_SESSION_TOTAL_OPS);
    for (int i = 0; i < 100; ++i) shmem_ctx_long_atomic_add(all[0], word, 1, (me + 1) % pes);
    shmem_ctx_session_stop(all[0]);
    shmem_ctx_quiet(all[0]);
    for (int i = 0; i < many; ++i) shmem_ctx_destroy(all[i]);
  }
  shmem_barrier_all();
  EXPECT(*word == 1200 + pes - 1 - me);
  shmem_team_destroy(reversed);
}

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  predefined();
  for (int i = 0; i < 20; ++i) nested();
  grid();
  contexts();
  const int failed = failures();
  shmem_finalize();
  return failed;
}
