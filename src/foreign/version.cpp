// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The names of this library and of its ABI, which is not the standard's.

#include <cstdio>

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"

namespace weft::foreign {

// MPI-5.0, 20.2: -1 says that the library has not the standard's ABI.
int abi_get_version(int* abi_major, int* abi_minor) {
  const int error = error_out(face.abi_get_version(abi_major, abi_minor));
  if (error == MPI_SUCCESS) *abi_major = *abi_minor = -1;
  return error;
}

// The text is shorter than the limit of either ABI.
int get_library_version(char* version, int* resultlen) {
  char standard[MPI_MAX_LIBRARY_VERSION_STRING];
  const int error = error_out(face.get_library_version(no_place(version) ? version : standard, resultlen));
  if (error != MPI_SUCCESS) return error;
  *resultlen = snprintf(version, limits::max_library_version_string, "Weft %s (MPI %d.%d, %s)", WEFT_VERSION,
                        MPI_VERSION, MPI_SUBVERSION, abi_number);
  return error;
}

}  // namespace weft::foreign
