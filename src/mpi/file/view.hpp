// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Views and pointers of files (MPI-5.0, 14.3 and 14.4).

#include "mpi/file/file.hpp"

namespace weft::mpi {

// The view that a file begins with: its bytes.
void set_default_view(File& file);
// Gives the view's types back.
void drop_view(File& file);

// Sets the pointers of a file that was opened: to its beginning, or its end with MPI_MODE_APPEND. Collective; raises
// errors.
[[nodiscard]] int start_pointers(const char* function, File& file);
void end_pointers(File& file);

// Bytes of an etype in the stream of the view.
[[nodiscard]] inline int64_t etype_bytes(const File& file) {
  return file.view.etype->size;
}

}  // namespace weft::mpi
