// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Every way to put and get, to the heap and to static data of the next PE.

#include <shmem.h>
#include <string.h>

#include "expect.h"

enum { count = 64, large = 300000 };

static int me, next, before;
static long static_words[count];
static uint64_t static_signal;

// Elements 0, 3, 6, ... of the target get elements 0, 2, 4, ... of ours.
static void strided(long* target) {
  long source[count], back[count];
  for (int i = 0; i < count; ++i) source[i] = me * 1000 + i, target[i] = -1, back[i] = -1;
  shmem_barrier_all();
  shmem_long_iput(target, source, 3, 2, 20, next);
  shmem_barrier_all();
  for (int i = 0; i < count; ++i) {
    EXPECT(target[i] == (i % 3 == 0 && i < 60 ? before * 1000 + i / 3 * 2 : -1));
  }
  shmem_iget64(back, target, 2, 3, 20, next);
  for (int i = 0; i < 40; ++i) EXPECT(back[i] == (i % 2 == 0 ? me * 1000 + i : -1));
  shmem_barrier_all();
  // Blocks of two, five apart there and three apart here.
  for (int i = 0; i < count; ++i) target[i] = -1, back[i] = -1;
  shmem_barrier_all();
  shmem_long_ibput(target, source, 5, 3, 2, 10, next);
  shmem_barrier_all();
  for (int i = 0; i < 50; ++i) {
    EXPECT(target[i] == (i % 5 < 2 ? before * 1000 + i / 5 * 3 + i % 5 : -1));
  }
  shmem_long_ibget(back, target, 2, 5, 2, 10, next);
  for (int i = 0; i < 20; ++i) EXPECT(back[i] == me * 1000 + i / 2 * 3 + i % 2);
  shmem_barrier_all();
}

static void sizes(char* target) {
  char source[256], back[256];
  for (int i = 0; i < 256; ++i) source[i] = (char)(i + me);
  for (int bytes = 0; bytes <= 100; ++bytes) {
    memset(target, 0, 256);
    shmem_barrier_all();
    shmem_putmem(target + bytes, source, (size_t)bytes, next);
    shmem_barrier_all();
    for (int i = 0; i < 256; ++i) {
      EXPECT(target[i] == (i >= bytes && i < 2 * bytes ? (char)(i - bytes + before) : 0));
    }
    memset(back, 1, 256);
    shmem_getmem(back, target + bytes, (size_t)bytes, next);
    EXPECT(memcmp(back, source, (size_t)bytes) == 0 && back[bytes] == 1);
    shmem_barrier_all();
  }
  shmem_put8(target, source, 3, next);
  shmem_put16(target + 16, source, 3, next);
  shmem_put32(target + 32, source, 3, next);
  shmem_put64(target + 64, source, 3, next);
  shmem_put128(target + 128, source, 3, next);
  shmem_quiet();
  shmem_barrier_all();
  for (int i = 0; i < 3 * 16; ++i) {
    const char is = (char)(i + before);
    EXPECT(i >= 3 || target[i] == is);
    EXPECT(i >= 6 || target[16 + i] == is);
    EXPECT(i >= 12 || target[32 + i] == is);
    EXPECT(i >= 24 || target[64 + i] == is);
    EXPECT(target[128 + i] == is);
  }
  shmem_barrier_all();
}

static void scalars(void) {
  struct all {
    float f;
    double d;
    long double ld;
    char c;
    short s;
    int i;
    long long ll;
    uint8_t u8;
    size_t z;
  }* there = shmem_calloc(1, sizeof *there);
  shmem_float_p(&there->f, (float)me + 0.5F, next);
  shmem_double_p(&there->d, me + 0.25, next);
  shmem_longdouble_p(&there->ld, me + 0.125L, next);
  shmem_char_p(&there->c, (char)('a' + me), next);
  shmem_short_p(&there->s, (short)-me, next);
  shmem_int_p(&there->i, me * 3, next);
  shmem_longlong_p(&there->ll, me * 5LL, next);
  shmem_uint8_p(&there->u8, (uint8_t)(200 + me), next);
  shmem_size_p(&there->z, (size_t)me << 40, next);
  shmem_barrier_all();
  EXPECT(there->f == (float)before + 0.5F && there->d == before + 0.25 && there->ld == before + 0.125L);
  EXPECT(there->c == 'a' + before && there->s == -before && there->i == before * 3 && there->ll == before * 5LL);
  EXPECT(there->u8 == 200 + before && there->z == (size_t)before << 40);
  EXPECT(shmem_float_g(&there->f, next) == (float)me + 0.5F);
  EXPECT(shmem_longdouble_g(&there->ld, next) == me + 0.125L);
  EXPECT(shmem_uint8_g(&there->u8, next) == 200 + me);
  shmem_barrier_all();
  shmem_free(there);
}

static void signals(char* target, uint64_t* signal, char* source, char* back) {
  *signal = 0;
  memset(source, me + 1, large);
  shmem_barrier_all();
  shmem_putmem_signal(target, source, large, signal, 7, SHMEM_SIGNAL_SET, next);
  EXPECT(shmem_signal_wait_until(signal, SHMEM_CMP_GE, 7) == 7);
  for (int i = 0; i < large; i += 997) EXPECT(target[i] == before + 1);
  EXPECT(target[large - 1] == before + 1);
  shmem_barrier_all();
  memset(source, me + 2, large);
  shmem_char_put_signal_nbi(target, source, 1000, signal, 3, SHMEM_SIGNAL_ADD, next);
  shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 10);
  EXPECT(target[999] == before + 2 && target[1000] == before + 1 && shmem_signal_fetch(signal) == 10);
  shmem_barrier_all();
  shmem_signal_add(signal, 5, next);
  shmem_signal_wait_until(signal, SHMEM_CMP_NE, 10);
  EXPECT(shmem_signal_fetch(signal) == 15);
  shmem_barrier_all();
  shmem_signal_set(signal, 1, next);
  shmem_signal_wait_until(signal, SHMEM_CMP_LT, 2);
  memset(back, 0, large);
  shmem_char_get_nbi(back, target, large, next);
  shmem_quiet();
  EXPECT(back[0] == me + 2 && back[large - 1] == me + 1);
  shmem_barrier_all();
}

static char source_bytes[large], back_bytes[large], static_bytes[large];

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  const int pes = shmem_n_pes();
  next = (me + 1) % pes;
  before = (me + pes - 1) % pes;
  long* words = shmem_malloc(count * sizeof *words);
  char* bytes = shmem_malloc(large);
  uint64_t* signal = shmem_malloc(sizeof *signal);
  strided(words);
  strided(static_words);
  sizes(bytes);
  sizes(static_bytes);
  scalars();
  signals(bytes, signal, source_bytes, back_bytes);
  signals(static_bytes, &static_signal, source_bytes, back_bytes);
  signals(bytes, &static_signal, source_bytes, back_bytes);
  for (int i = 0; i < 100; ++i) shmem_long_put_nbi(words, words, 0, next);
  const int targets[] = {next, me};
  shmem_pe_quiet(targets, 2);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
