// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Traffic of device data without end, for kill.py: small and large messages, with gaps, and collective operations.
//   WEFT_VICTIM_PLACE  where the data lie (bench/place.h)
#include <unistd.h>

#include "place.h"

int main(int argc, char** argv) {
  const char* place = getenv("WEFT_VICTIM_PLACE");
  if (!place) place = "cuda";
  places.of[0] = places.of[1] = place_named(place, strlen(place));
  const char* reason = place_by_driver(places.of[0]) ? cu_load() : NULL;
  if (reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    return BENCH_SKIP;
  }
  enum { LARGE = 4 << 20 };
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  place_start(rank);
  unsigned char *out = place_buffer(LARGE), *in = place_buffer(LARGE);
  MPI_Datatype columns;
  MPI_Type_vector(LARGE / 64, 32, 64, MPI_BYTE, &columns);
  MPI_Type_commit(&columns);
  printf("pid %d\n", (int)getpid());
  fflush(stdout);
  for (int i = 0;; ++i) {
    const int bytes = i % 3 == 0 ? LARGE : i % 4 == 0 ? 100000 : 64;
    MPI_Request r[2];
    MPI_Irecv(in, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    if (i % 4 == 1) {
      MPI_Sendrecv(out, 1, columns, (rank + 1) % ranks, 2, in, 1, columns, (rank + ranks - 1) % ranks, 2,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (i % 8 == 2) MPI_Allreduce(out, in, LARGE / 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}
