// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data access with shared file pointers (MPI-5.0, 14.4.4).
#include "mpi/file/data.hpp"

namespace weft::mpi {

int file_read_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {
  return run({"MPI_File_read_shared", fh, false, Pointer::shared, 0, buf, count, datatype}, status);
}

int file_write_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {
  return run({"MPI_File_write_shared", fh, true, Pointer::shared, 0, const_cast<void*>(buf), count, datatype}, status);
}

int file_read_ordered_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {
  return run_all({"MPI_File_read_ordered", fh, false, Pointer::shared, 0, buf, count, datatype}, status);
}

int file_write_ordered_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {
  return run_all({"MPI_File_write_ordered", fh, true, Pointer::shared, 0, const_cast<void*>(buf), count, datatype},
                 status);
}

int file_iread_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request) {
  return start({"MPI_File_iread_shared", fh, false, Pointer::shared, 0, buf, count, datatype}, request);
}

int file_iwrite_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request) {
  return start({"MPI_File_iwrite_shared", fh, true, Pointer::shared, 0, const_cast<void*>(buf), count, datatype},
               request);
}

}  // namespace weft::mpi
