// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A sender far ahead of its receiver: the receiver, which is in MPI calls all the time waiting for another message,
// keeps what comes within bounds, and everything is delivered in order. Two ranks.
//
// usage: flood small|large|reverse|blocking [bytes of a message] [messages]
// reverse: every message has a tag of its own, and the receiver takes the last one first.
#include <time.h>

#include "p2p.h"

static MPI_Comm world;
static int bytes_of_all;  // 0 stands for 8 to 64

// The largest resident size so far, in KiB.
static long peak(void) {
  char line[128];
  long kib = -1;
  FILE* f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) sscanf(line, "VmHWM: %ld", &kib);
  if (f != NULL) fclose(f);
  return kib;
}

// It is the time of the processor, since others may be at work on it.
static double cpu_seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

static int size_of(int i) {
  return bytes_of_all != 0 ? bytes_of_all : 8 + i % 57;
}

static void check_growth(const char* who, long kib, long bound_kib) {
  if (kib > bound_kib) failed(__FILE__, __LINE__, "the %s grew by %ld KiB, more than %ld", who, kib, bound_kib);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  world = MPI_COMM_WORLD;
  const char* what = argc > 1 ? argv[1] : "small";
  const int reverse = strcmp(what, "reverse") == 0, blocking = strcmp(what, "blocking") == 0;
  bytes_of_all = argc > 2 ? atoi(argv[2]) : strcmp(what, "large") == 0 ? 1024 : 0;
  const int count = argc > 3 ? atoi(argv[3]) : 100000, most = bytes_of_all != 0 ? bytes_of_all : 64;
  // The bound is enough for 100 000 envelopes and the data that WEFT_UNEXPECTED_LIMIT (16 MiB) allows, with what the
  // heap adds; at the sender, for as many requests.
  // Between hosts, where another launcher starts us, libfabric has pools that grow to 40 MiB.
  const long bound_kib = getenv("PMI_SIZE") != NULL ? 96 << 10 : 64 << 10;
  unsigned char* data = malloc(me == 0 ? (size_t)count * (size_t)most : (size_t)most);
  MPI_Request* requests = malloc(sizeof *requests * (size_t)count);
  MPI_Request last;
  int word = 0;
  if (me == 0) {
    for (int i = 0; i < count; ++i) fill(data + (size_t)i * (size_t)most, size_of(i), (uint64_t)i);
    const long before = peak();
    for (int i = 0; i < count; ++i) {
      unsigned char* at = data + (size_t)i * (size_t)most;
      if (blocking) {
        OK(MPI_Send(at, size_of(i), MPI_BYTE, 1, 0, world));
      } else {
        OK(MPI_Isend(at, size_of(i), MPI_BYTE, 1, reverse ? i : 0, world, &requests[i]));
      }
    }
    OK(MPI_Isend(&word, 1, MPI_INT, 1, count, world, &last));
    if (!blocking) OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Wait(&last, MPI_STATUS_IGNORE));
    check_growth("sender", peak() - before, bound_kib);
  } else if (me == 1) {
    const long before = peak();
    if (!blocking) OK(MPI_Recv(&word, 1, MPI_INT, 0, count, world, MPI_STATUS_IGNORE));  // all others came before it
    const long grown = peak() - before;
    check_growth("receiver", grown, bound_kib);
    const double begin = cpu_seconds();
    for (int k = 0; k < count && failures < 20; ++k) {
      const int i = reverse ? count - 1 - k : k, bytes = size_of(i);
      MPI_Status status;
      OK(MPI_Recv(data, most, MPI_BYTE, 0, reverse ? i : 0, world, &status));
      if (!is_message(&status, 0, reverse ? i : 0, bytes) || wrong_at(data, bytes, (uint64_t)i) >= 0) {
        failed(__FILE__, __LINE__, "message %d is not what was sent", i);
      }
    }
    const double seconds = cpu_seconds() - begin;
    if (blocking) OK(MPI_Recv(&word, 1, MPI_INT, 0, count, world, MPI_STATUS_IGNORE));
    printf("flood %s: grew by %ld KiB, received in %.2f s of the processor\n", what, grown, seconds);
    if (seconds > 20) failed(__FILE__, __LINE__, "%d messages took %.1f s of the processor to receive", count, seconds);
  }
  free(requests);
  free(data);
  return finish();
}
