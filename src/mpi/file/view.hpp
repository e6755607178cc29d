// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Views of files (MPI-5.0, 14.3).

#include "mpi/file/file.hpp"

namespace weft::mpi {

// The view that a file begins with: its bytes.
void set_default_view(File& file);
// Gives the view's types back.
void drop_view(File& file);

// Bytes of an etype in the stream of the view.
[[nodiscard]] inline int64_t etype_bytes(const File& file) {
  return file.view.etype->size;
}

}  // namespace weft::mpi
