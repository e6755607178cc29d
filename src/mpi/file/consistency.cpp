// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Consistency (MPI-5.0, 14.6).
#include "io/collective_access.hpp"
#include "mpi/file/file.hpp"

namespace weft::mpi {

int file_set_atomicity(MPI_File fh, int flag) {
  FileCheck check("MPI_File_set_atomicity", fh);
  if (check.failed()) return check.error();
  File& file = check.file();
  io::drain(file);
  if (!io::same_on_all(*file.comm, flag != 0 ? 1 : 0)) {
    check.fail(MPI_ERR_NOT_SAME, "the ranks do not give the same flag");
    return check.error();
  }
  check.take(io::set_atomic_collectively(file, flag != 0));
  return check.error();
}

int file_get_atomicity(MPI_File fh, int* flag) {
  FileCheck check("MPI_File_get_atomicity", fh);
  check.pointer(flag, "flag");
  if (!check.failed()) *flag = check.file().atomic ? 1 : 0;
  return check.error();
}

int file_sync(MPI_File fh) {
  FileCheck check("MPI_File_sync", fh);
  if (check.failed()) return check.error();
  io::drain(check.file());
  check.take(io::sync_collectively(check.file()));
  return check.error();
}

}  // namespace weft::mpi
