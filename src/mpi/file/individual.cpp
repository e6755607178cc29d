// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data access with individual file pointers (MPI-5.0, 14.4.3).
#include "mpi/file/data.hpp"

namespace weft::mpi {

int file_read_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {
  return run({"MPI_File_read", fh, false, Pointer::individual, 0, buf, count, datatype}, status);
}

int file_write_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {
  return run({"MPI_File_write", fh, true, Pointer::individual, 0, const_cast<void*>(buf), count, datatype}, status);
}

int file_read_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {
  return run_all({"MPI_File_read_all", fh, false, Pointer::individual, 0, buf, count, datatype}, status);
}

int file_write_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Status* status) {
  return run_all({"MPI_File_write_all", fh, true, Pointer::individual, 0, const_cast<void*>(buf), count, datatype},
                 status);
}

int file_iread_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request) {
  return start({"MPI_File_iread", fh, false, Pointer::individual, 0, buf, count, datatype}, request);
}

int file_iwrite_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request) {
  return start({"MPI_File_iwrite", fh, true, Pointer::individual, 0, const_cast<void*>(buf), count, datatype}, request);
}

int file_iread_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request) {
  return start_all({"MPI_File_iread_all", fh, false, Pointer::individual, 0, buf, count, datatype}, request);
}

int file_iwrite_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Request* request) {
  return start_all({"MPI_File_iwrite_all", fh, true, Pointer::individual, 0, const_cast<void*>(buf), count, datatype},
                   request);
}

}  // namespace weft::mpi
