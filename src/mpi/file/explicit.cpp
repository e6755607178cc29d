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

int file_read_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Status* status) {
  return run_all({"MPI_File_read_at_all", fh, false, Pointer::none, offset, buf, count, datatype}, status);
}

int file_write_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status* status) {
  return run_all({"MPI_File_write_at_all", fh, true, Pointer::none, offset, const_cast<void*>(buf), count, datatype},
                 status);
}

int file_iread_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Request* request) {
  return start({"MPI_File_iread_at", fh, false, Pointer::none, offset, buf, count, datatype}, request);
}

int file_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Request* request) {
  return start({"MPI_File_iwrite_at", fh, true, Pointer::none, offset, const_cast<void*>(buf), count, datatype},
               request);
}

int file_iread_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Request* request) {
  return start_all({"MPI_File_iread_at_all", fh, false, Pointer::none, offset, buf, count, datatype}, request);
}

int file_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request* request) {
  return start_all({"MPI_File_iwrite_at_all", fh, true, Pointer::none, offset, const_cast<void*>(buf), count, datatype},
                   request);
}

}  // namespace weft::mpi
