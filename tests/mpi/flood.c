// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A sender far ahead of its receiver: the receiver, which is in MPI calls all the time waiting for another message,
// keeps what comes within bounds, and everything is delivered in order. Two ranks.
//
// usage: flood small|large|reverse|blocking
#include "p2p.h"

enum { count = 100000 };
static MPI_Comm world;

// The largest resident size so far, in KiB.
static long peak(void) {
  char line[128];
  long kib = -1;
  FILE* f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) sscanf(line, "VmHWM: %ld", &kib);
  if (f != NULL) fclose(f);
  return kib;
}

static int size_of(int i, int large) {
  return large ? 1024 : 8 + i % 57;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  world = MPI_COMM_WORLD;
  const char* what = argc > 1 ? argv[1] : "small";
  const int large = strcmp(what, "large") == 0, reverse = strcmp(what, "reverse") == 0,
            blocking = strcmp(what, "blocking") == 0;
  // Room for 100 000 envelopes and what WEFT_UNEXPECTED_LIMIT (16 MiB) allows of data, with what the heap adds.
  const long bound_kib = 64 << 10;
  unsigned char* data = malloc((size_t)count * 1024);
  MPI_Request* requests = malloc(sizeof *requests * count);
  MPI_Request last;
  int word = 0;
  if (me == 0) {
    for (int i = 0; i < count; ++i) {
      unsigned char* at = data + (size_t)i * 1024;
      const int bytes = size_of(i, large);
      fill(at, bytes, (uint64_t)i);
      if (blocking) {
        OK(MPI_Send(at, bytes, MPI_BYTE, 1, 0, world));
      } else {
        OK(MPI_Isend(at, bytes, MPI_BYTE, 1, reverse ? i : 0, world, &requests[i]));
      }
    }
    OK(MPI_Isend(&word, 1, MPI_INT, 1, count, world, &last));
    if (!blocking) OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Wait(&last, MPI_STATUS_IGNORE));
  } else if (me == 1) {
    const long before = peak();
    if (!blocking) OK(MPI_Recv(&word, 1, MPI_INT, 0, count, world, MPI_STATUS_IGNORE));  // all others came before it
    const long grown = peak() - before;
    if (grown > bound_kib) failed(__FILE__, __LINE__, "the receiver grew by %ld KiB, more than %ld", grown, bound_kib);
    const double begin = MPI_Wtime();
    unsigned char got[1024];
    for (int k = 0; k < count && failures < 20; ++k) {
      const int i = reverse ? count - 1 - k : k, bytes = size_of(i, large);
      MPI_Status status;
      OK(MPI_Recv(got, 1024, MPI_BYTE, 0, reverse ? i : 0, world, &status));
      if (!is_message(&status, 0, reverse ? i : 0, bytes) || wrong_at(got, bytes, (uint64_t)i) >= 0) {
        failed(__FILE__, __LINE__, "message %d is not what was sent", i);
      }
    }
    const double seconds = MPI_Wtime() - begin;
    if (blocking) OK(MPI_Recv(&word, 1, MPI_INT, 0, count, world, MPI_STATUS_IGNORE));
    printf("flood %s: grew by %ld KiB, received in %.2f s\n", what, grown, seconds);
    if (seconds > 20) failed(__FILE__, __LINE__, "%d messages took %.1f s to receive", count, seconds);
  }
  free(requests);
  free(data);
  return finish();
}
