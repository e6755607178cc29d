// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Split collective data access (MPI-5.0, 14.4.5).
#include "mpi/file/data.hpp"

namespace weft::mpi {

int file_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype datatype) {
  return begin_split({"MPI_File_read_at_all_begin", fh, false, Pointer::none, offset, buf, count, datatype});
}

int file_read_at_all_end(MPI_File fh, void* /*buf*/, MPI_Status* status) {
  return end_split("MPI_File_read_at_all_end", fh, false, Pointer::none, status);
}

int file_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype datatype) {
  return begin_split(
      {"MPI_File_write_at_all_begin", fh, true, Pointer::none, offset, const_cast<void*>(buf), count, datatype});
}

int file_write_at_all_end(MPI_File fh, const void* /*buf*/, MPI_Status* status) {
  return end_split("MPI_File_write_at_all_end", fh, true, Pointer::none, status);
}

int file_read_all_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  return begin_split({"MPI_File_read_all_begin", fh, false, Pointer::individual, 0, buf, count, datatype});
}

int file_read_all_end(MPI_File fh, void* /*buf*/, MPI_Status* status) {
  return end_split("MPI_File_read_all_end", fh, false, Pointer::individual, status);
}

int file_write_all_begin_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype) {
  return begin_split(
      {"MPI_File_write_all_begin", fh, true, Pointer::individual, 0, const_cast<void*>(buf), count, datatype});
}

int file_write_all_end(MPI_File fh, const void* /*buf*/, MPI_Status* status) {
  return end_split("MPI_File_write_all_end", fh, true, Pointer::individual, status);
}

int file_read_ordered_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  return begin_split({"MPI_File_read_ordered_begin", fh, false, Pointer::shared, 0, buf, count, datatype});
}

int file_read_ordered_end(MPI_File fh, void* /*buf*/, MPI_Status* status) {
  return end_split("MPI_File_read_ordered_end", fh, false, Pointer::shared, status);
}

int file_write_ordered_begin_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype) {
  return begin_split(
      {"MPI_File_write_ordered_begin", fh, true, Pointer::shared, 0, const_cast<void*>(buf), count, datatype});
}

int file_write_ordered_end(MPI_File fh, const void* /*buf*/, MPI_Status* status) {
  return end_split("MPI_File_write_ordered_end", fh, true, Pointer::shared, status);
}

}  // namespace weft::mpi
