// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace heat {

// A rank's communication, as the program sees it: seconds inside MPI, and what it handed to sends.
struct Traffic {
  double seconds = 0;
  double messages = 0;
  double bytes = 0;

  // Runs a call of MPI and adds its time.
  template <class Call>
  void timed(Call call) {
    const double begin = MPI_Wtime();
    call();
    seconds += MPI_Wtime() - begin;
  }
  void sent(double size) {
    messages += 1;
    bytes += size;
  }
};

}  // namespace heat
