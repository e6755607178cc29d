// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data access with explicit offsets (MPI-5.0, 14.4.2).
#include "mpi/file/data.hpp"

namespace weft::mpi {

int file_read_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Status* status) {
  return run({"MPI_File_read_at", fh, false, Pointer::none, offset, buf, count, datatype}, status);
}

int file_write_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Status* status) {
  return run({"MPI_File_write_at", fh, true, Pointer::none, offset, const_cast<void*>(buf), count, datatype}, status);
}

}  // namespace weft::mpi
