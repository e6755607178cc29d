// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef WEFT_TESTS_MPI_COUNTERS_H
#define WEFT_TESTS_MPI_COUNTERS_H

// Whether the setting of a row did what the row's name says. TEST_EXPECT lists what must hold of the performance
// variables at the end of the program, such as "r0_messages>0,r1_messages=0,e0_bytes<=e0_messages": without their
// "weft_", of all ranks together. weft_lanes is the most of any rank; weft_lane_messages is the most lanes that
// messages came on. counters_start() before or after MPI_Init, counters_failed() before MPI_Finalize, by all ranks.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define COUNTERS_ONCE inline
#else
#define COUNTERS_ONCE __attribute__((unused)) static
#endif

enum { counters_most = 16, counters_elements = 64 };
struct counters_variable {
  char name[64];
  MPI_T_pvar_handle handle;
  int elements;
};
COUNTERS_ONCE MPI_T_pvar_session counters_session;
COUNTERS_ONCE struct counters_variable counters_watched[counters_most];
COUNTERS_ONCE int counters_count;

COUNTERS_ONCE void counters_usage(const char* what) {
  fprintf(stderr, "TEST_EXPECT: %s: %s\n", getenv("TEST_EXPECT"), what);
  exit(2);
}

// Index of the variable, which is watched from now on.
COUNTERS_ONCE int counters_watch(const char* name) {
  for (int i = 0; i < counters_count; ++i) {
    if (strcmp(counters_watched[i].name, name) == 0) return i;
  }
  if (counters_count == counters_most) counters_usage("too many variables");
  char whole[80];
  snprintf(whole, sizeof whole, "weft_%s", name);
  int variables = 0;
  MPI_T_pvar_get_num(&variables);
  for (int index = 0; index < variables; ++index) {
    char found[128];
    int length = sizeof found, bind = 0, class_of_it = 0;
    MPI_T_pvar_get_info(index, found, &length, NULL, &class_of_it, NULL, NULL, NULL, NULL, &bind, NULL, NULL, NULL);
    if (strcmp(found, whole) != 0) continue;
    const int i = counters_count++;
    snprintf(counters_watched[i].name, sizeof counters_watched[i].name, "%s", name);
    MPI_T_pvar_handle_alloc(counters_session, index, NULL, &counters_watched[i].handle, &counters_watched[i].elements);
    if (counters_watched[i].elements > counters_elements) counters_usage("too many elements");
    return i;
  }
  counters_usage(name);
  return -1;
}

// A part of TEST_EXPECT: a variable, a comparison, a number or a variable.
COUNTERS_ONCE int counters_parse(char* part, int* left, char* comparison, unsigned long long* number) {
  const size_t name = strspn(part, "abcdefghijklmnopqrstuvwxyz0123456789_");
  const size_t signs = strspn(part + name, "<>=");
  if (name == 0 || name > 60 || signs == 0 || signs > 2 || part[name + signs] == 0) counters_usage(part);
  memcpy(comparison, part + name, signs);
  comparison[signs] = 0;
  char text[64];
  memcpy(text, part, name);
  text[name] = 0;
  *left = counters_watch(text);
  char* end = NULL;
  *number = strtoull(part + name + signs, &end, 10);
  return *end == 0 ? -1 : counters_watch(part + name + signs);
}

COUNTERS_ONCE void counters_start(void) {
  const char* asked = getenv("TEST_EXPECT");
  if (asked == NULL) return;
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  MPI_T_pvar_session_create(&counters_session);
  char text[400], *rest = NULL;
  snprintf(text, sizeof text, "%s", asked);
  for (char* part = strtok_r(text, ",", &rest); part != NULL; part = strtok_r(NULL, ",", &rest)) {
    int left = 0;
    char comparison[3];
    unsigned long long number = 0;
    (void)counters_parse(part, &left, comparison, &number);
  }
  MPI_T_pvar_start(counters_session, MPI_T_PVAR_ALL_HANDLES);
}

// How many of the expectations do not hold; rank 0 says which.
COUNTERS_ONCE int counters_failed(void) {
  const char* asked = getenv("TEST_EXPECT");
  if (asked == NULL) return 0;
  if (counters_count == 0) counters_usage("the program does not count");
  unsigned long long mine[counters_most] = {0}, sums[counters_most] = {0}, most[counters_most] = {0};
  for (int i = 0; i < counters_count; ++i) {
    unsigned long long values[counters_elements] = {0};
    MPI_T_pvar_read(counters_session, counters_watched[i].handle, values);
    mine[i] = values[0];
    if (counters_watched[i].elements > 1) {
      mine[i] = 0;
      for (int k = 0; k < counters_watched[i].elements; ++k) mine[i] += values[k] != 0;
    }
  }
  MPI_Allreduce(mine, sums, counters_count, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(mine, most, counters_count, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < counters_count; ++i) {
    const char* name = counters_watched[i].name;
    if (strcmp(name, "lanes") == 0 || strcmp(name, "lane_messages") == 0) sums[i] = most[i];
  }
  int me = 0, failed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  char text[400], *rest = NULL;
  snprintf(text, sizeof text, "%s", asked);
  for (char* part = strtok_r(text, ",", &rest); part != NULL; part = strtok_r(NULL, ",", &rest)) {
    int left = 0;
    char comparison[3];
    unsigned long long number = 0;
    const int right = counters_parse(part, &left, comparison, &number);
    const unsigned long long is = sums[left], to = right < 0 ? number : sums[right];
    const int holds = strcmp(comparison, "=") == 0    ? is == to
                      : strcmp(comparison, ">") == 0  ? is > to
                      : strcmp(comparison, "<") == 0  ? is < to
                      : strcmp(comparison, "<=") == 0 ? is <= to
                                                      : -1;
    if (holds < 0) counters_usage(part);
    if (holds) continue;
    ++failed;
    if (me == 0) fprintf(stderr, "TEST_EXPECT: %s does not hold: %llu, %llu\n", part, is, to);
  }
  MPI_T_pvar_session_free(&counters_session);
  MPI_T_finalize();
  return failed;
}

#endif
