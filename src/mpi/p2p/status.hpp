// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The contents of MPI_internal in MPI_Status: the bytes received in words 0 and 1 (the structure is aligned to 4 bytes,
// hence the copies), whether the operation was cancelled in word 2. MPI_ERROR is not ours to write, except in calls
// that complete several operations (MPI-5.0, 3.2.5).

#include <mpi.h>

#include <cstdint>
#include <cstring>

namespace weft::mpi {

inline int64_t status_bytes(const MPI_Status& status) {
  int64_t bytes;
  memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}

inline void set_status_bytes(MPI_Status& status, int64_t bytes) {
  memcpy(status.MPI_internal, &bytes, sizeof bytes);
}

inline bool status_cancelled(const MPI_Status& status) {
  return status.MPI_internal[2] != 0;
}

inline void set_status_cancelled(MPI_Status& status, bool cancelled) {
  status.MPI_internal[2] = cancelled ? 1 : 0;
}

// All but MPI_ERROR. Does nothing for MPI_STATUS_IGNORE.
inline void set_status(MPI_Status* status, int source, int tag, int64_t bytes, bool cancelled) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_status_bytes(*status, bytes);
  set_status_cancelled(*status, cancelled);
}

// For the calls that complete several operations.
inline void set_status(MPI_Status* status, int source, int tag, int error, int64_t bytes, bool cancelled) {
  if (status == MPI_STATUS_IGNORE) return;
  set_status(status, source, tag, bytes, cancelled);
  status->MPI_ERROR = error;
}

// The status of nothing: of null and inactive requests (MPI-5.0, 3.7.3).
inline void set_empty_status(MPI_Status* status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, false);
}

}  // namespace weft::mpi
