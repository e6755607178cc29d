// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The status of MPICH's ABI.

#include <cstdint>

namespace weft::mpich {

// The count has 63 bits: the low 32 in the first word, the others above the lowest bit of the second, which says that
// the operation was cancelled.
struct Status {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
};
static_assert(sizeof(Status) == 20);

}  // namespace weft::mpich
