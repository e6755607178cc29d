// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A synchronous send that nobody receives is cancelled while its destination is already in MPI_Finalize: the cancel
// must end, there or here (MPI-5.0, 11.2.2: MPI_Finalize is collective, and may be needed for the progress of others).
#include "p2p.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  static char data[100000];
  const int sizes[] = {8, 9000, 100000};
  if (me != ranks - 1) {
    MPI_Request r[3];
    for (int i = 0; i < 3; ++i) OK(MPI_Issend(data, sizes[i], MPI_BYTE, ranks - 1, i, MPI_COMM_WORLD, &r[i]));
    usleep(100000);  // the last rank has finalized, or waits in MPI_Finalize
    for (int i = 0; i < 3; ++i) {
      MPI_Status status = dirty();
      int flag = 0;
      OK(MPI_Cancel(&r[i]));
      OK(MPI_Wait(&r[i], &status));
      OK(MPI_Test_cancelled(&status, &flag));
      EXPECT(flag);
    }
  }
  return finish();
}
