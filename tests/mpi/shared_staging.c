// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share staging buffers (WEFT_MINIMUM_MEMORY) go on while all of these wait for a rank that computes. Four
// ranks on a host: messages of rank 0 fill the buffers, and rank 1 looks at none of them until rank 3 has got a large
// message of rank 2.
#include <stdatomic.h>

#include "p2p.h"

enum { count = 200, small = 8192, large = 1 << 20 };

static char value_of(int message, int byte) {
  return (char)(message * 31 + byte % 251);
}

// The word of shared memory that rank 1 owns: how far the job is.
enum { begun, busy, received };
static _Atomic int* word_of_rank_1(MPI_Win* window) {
  void* base = NULL;
  MPI_Aint bytes = 0;
  int unit = 0;
  OK(MPI_Win_allocate_shared(me == 1 ? sizeof(int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, window));
  OK(MPI_Win_shared_query(*window, 1, &bytes, &unit, &base));
  return base;
}

static void send_to_the_busy(_Atomic int* word) {
  static char data[count][small];
  static MPI_Request requests[count];
  while (atomic_load(word) != busy) usleep(1000);
  for (int i = 0; i < count; ++i) {
    for (int b = 0; b < small; ++b) data[i][b] = value_of(i, b);
    OK(MPI_Isend(data[i], small, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]));
  }
  OK(MPI_Send(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD));
  OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

static void be_busy(_Atomic int* word) {
  static char data[small];
  atomic_store(word, busy);  // in no call of MPI from here on
  while (atomic_load(word) != received) usleep(1000);
  for (int i = 0; i < count; ++i) {
    memset(data, 0, small);
    OK(MPI_Recv(data, small, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    int wrong = 0;
    for (int b = 0; b < small; ++b) wrong += data[b] != value_of(i, b);
    EXPECT_INT(wrong, 0);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  static char data[large];
  MPI_Win window;
  _Atomic int* const word = word_of_rank_1(&window);
  switch (me) {
    case 0:
      send_to_the_busy(word);
      break;
    case 1:
      be_busy(word);
      break;
    case 2:
      memset(data, 7, large);
      OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      OK(MPI_Send(data, large, MPI_BYTE, 3, 0, MPI_COMM_WORLD));
      break;
    default:
      OK(MPI_Recv(data, large, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      EXPECT(data[0] == 7 && data[large - 1] == 7);
      atomic_store(word, received);
  }
  OK(MPI_Win_free(&window));
  return finish();
}
