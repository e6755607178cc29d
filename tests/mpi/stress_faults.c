// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A layer over MPI that makes threads_stress wrong, by STRESS_FAULT: rows show that the program finds it.
//   message, window   a byte of every 100th message, or put, is another one
//   memory            each message costs 64 KiB, which nobody gives back
//   hang              the 200th flush of rank 0 never returns
#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int sends, puts, flushes;

static int is_asked(const char* fault) {
  const char* asked = getenv("STRESS_FAULT");
  return asked != NULL && strcmp(asked, fault) == 0;
}

// A copy of the data with another last byte. It stays.
static const void* spoilt(const void* data, int bytes) {
  unsigned char* copy = malloc((size_t)bytes);
  if (copy == NULL) abort();
  memcpy(copy, data, (size_t)bytes);
  copy[bytes - 1] ^= 1;
  return copy;
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  const int number = ++sends;
  if (is_asked("message") && number % 100 == 0 && count > 64) data = spoilt(data, count);
  if (is_asked("memory")) {
    static void* volatile lost;  // seen by the compiler as used
    lost = malloc(64 << 10);
    if (lost != NULL) memset(lost, 1, 64 << 10);
  }
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Put(const void* data, int count, MPI_Datatype type, int target, MPI_Aint at, int there, MPI_Datatype their_type,
            MPI_Win window) {
  if (is_asked("window") && ++puts % 100 == 0) data = spoilt(data, count);
  return PMPI_Put(data, count, type, target, at, there, their_type, window);
}

int MPI_Win_flush(int target, MPI_Win window) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is_asked("hang") && rank == 0 && ++flushes >= 200) {
    for (;;) pause();
  }
  return PMPI_Win_flush(target, window);
}
