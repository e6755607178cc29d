// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The names of this library and of its ABI, which is not the standard's.

#include <cstdio>

#include "mpich/by_hand.hpp"
#include "mpich/convert.hpp"

namespace weft::mpich {

// MPI-5.0, 20.2: -1 says that the library has not the standard's ABI.
int abi_get_version(int* abi_major, int* abi_minor) {
  const int error = error_out(face.abi_get_version(abi_major, abi_minor));
  if (error == MPI_SUCCESS) *abi_major = *abi_minor = -1;
  return error;
}

// 12 is the number of libmpi.so.12, which all libraries of this ABI have.
int get_library_version(char* version, int* resultlen) {
  const int error = error_out(face.get_library_version(version, resultlen));
  if (error != MPI_SUCCESS) return error;
  *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Weft %s (MPI %d.%d, MPICH ABI 12)", WEFT_VERSION,
                        MPI_VERSION, MPI_SUBVERSION);
  return error;
}

}  // namespace weft::mpich
