// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 sends more to all others, which do not receive yet, than the route to them can hold. A message that was to
// send an RTS then, and leaves otherwise when there is space again, must leave nothing behind: larger messages by the
// same requests follow, from other memory.
#include "p2p.h"

enum { messages = 24, small = 60000, large = 150000 };

static unsigned char* memory_of(size_t bytes) {
  unsigned char* memory;
  OK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory));
  return memory;
}

static void round_of(int bytes, int salt) {
  const int others = ranks - 1, mine = me == 0 ? others : 1;
  unsigned char* data = memory_of((size_t)mine * messages * (size_t)bytes);
  MPI_Request* requests = malloc(sizeof *requests * (size_t)(mine * messages));
  if (me != 0) usleep(200000);
  for (int i = 0; i < mine * messages; ++i) {
    unsigned char* at = data + (size_t)i * (size_t)bytes;
    if (me == 0) {
      fill(at, bytes, (uint64_t)(salt + i));
      OK(MPI_Isend(at, bytes, MPI_BYTE, 1 + i % others, i / others, MPI_COMM_WORLD, &requests[i]));
    } else {
      OK(MPI_Irecv(at, bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]));
    }
  }
  OK(MPI_Waitall(mine * messages, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; me != 0 && i < messages; ++i) {
    const int64_t wrong = wrong_at(data + (size_t)i * (size_t)bytes, bytes, (uint64_t)(salt + i * others + me - 1));
    if (wrong >= 0) failed(__FILE__, __LINE__, "message %d of %d bytes: wrong at %lld", i, bytes, (long long)wrong);
  }
  OK(MPI_Free_mem(data));
  free(requests);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int i = 0; i < 2; ++i) {
    round_of(small, 1000 * i);
    round_of(large, 1000 * i + 500);
  }
  return finish();
}
