// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The common part of the programs that `weft tune` starts on ranks.
#ifndef WEFT_MEASURING_H
#define WEFT_MEASURING_H

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_ROUNDS = 99 };

static _Noreturn void die(const char* what, const char* name) {
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, name);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static inline double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// A setting of the library, as a control variable; `value` is of the setting's type.
static inline void write_setting(const char* name, const void* value) {
  int index, entries;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) die("the library has no setting", name);
  MPI_T_cvar_handle_alloc(index, NULL, &handle, &entries);
  if (MPI_T_cvar_write(handle, value) != MPI_SUCCESS) die("a setting cannot be written", name);
  MPI_T_cvar_handle_free(&handle);
}

static inline void set(const char* name, MPI_Count value) {
  write_setting(name, &value);
}

// A setting that is one of a few words, by the number of the word.
static inline void set_word(const char* name, int word) {
  write_setting(name, &word);
}

// The number of rounds in a program's arguments.
static inline int rounds_in(const char* text) {
  const int rounds = atoi(text);
  if (rounds < 1 || rounds > MOST_ROUNDS) die("this is no number of rounds from 1 to 99", text);
  return rounds;
}

#endif
