// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Pointers of files (MPI-5.0, 14.4.3 and 14.4.4). The shared one is a number in a window of the file: ranks of one host
// update it in shared memory, those of other hosts through rank 0.

#include "mpi/file/file.hpp"

namespace weft::mpi {

// Sets the pointers of a file that was opened: to its beginning, or its end with MPI_MODE_APPEND. Collective; raises
// errors.
[[nodiscard]] int start_pointers(const char* function, File& file);
void end_pointers(File& file);

// Moves the shared pointer on; where it was.
[[nodiscard]] int64_t move_shared_pointer(File& file, int64_t etypes);
void set_shared_pointer(File& file, int64_t offset);

// Moves it past what all ranks access, in the order of ranks; `offset` is where ours begins. Collective; the same
// result on all ranks, and no move unless it is good.
[[nodiscard]] io::Result order_by_rank(File& file, int64_t etypes, const io::Result& given, int64_t& offset);

}  // namespace weft::mpi
