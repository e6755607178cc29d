// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Sizes of files and questions about them (MPI-5.0, 14.2.4 to 14.2.7).
#include "io/collective_access.hpp"
#include "io/disk.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/file/datarep.hpp"
#include "mpi/file/file.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

int file_get_size(MPI_File fh, MPI_Offset* size) {
  FileCheck check("MPI_File_get_size", fh);
  check.pointer(size, "size");
  if (check.failed()) return check.error();
  int64_t bytes = 0;
  check.take(io::size_of(check.file().fd(), bytes));
  if (!check.failed()) *size = bytes;
  return check.error();
}

namespace {

// Both are collective; a rank with a wrong argument takes part.
int change_size(FileCheck& check, MPI_Offset size, io::Result (*change)(io::File&, int64_t, const io::Result&)) {
  if (check.failed()) return check.error();
  io::drain(check.file());
  check.offset(size, "size");
  check.writes();
  const bool same = io::same_on_all(*check.file().comm, size);
  if (!same && !check.failed()) check.fail(MPI_ERR_NOT_SAME, "the ranks do not give the same size");
  check.take(change(check.file(), size, check.told()));
  return check.error();
}

}  // namespace

int file_set_size(MPI_File fh, MPI_Offset size) {
  FileCheck check("MPI_File_set_size", fh);
  return change_size(check, size, io::resize_collectively);
}

int file_preallocate(MPI_File fh, MPI_Offset size) {
  FileCheck check("MPI_File_preallocate", fh);
  return change_size(check, size, io::reserve_collectively);
}

int file_get_group(MPI_File fh, MPI_Group* group) {
  FileCheck check("MPI_File_get_group", fh);
  check.pointer(group, "group");
  if (check.failed()) return check.error();
  *group = group_handle(hold(check.file().comm->group));
  return MPI_SUCCESS;
}

int file_get_amode(MPI_File fh, int* amode) {
  FileCheck check("MPI_File_get_amode", fh);
  check.pointer(amode, "amode");
  if (check.failed()) return check.error();
  *amode = check.file().amode;
  return MPI_SUCCESS;
}

int file_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count* extent) {
  FileCheck check("MPI_File_get_type_extent", fh);
  check.pointer(extent, "extent");
  const Type* type = check.failed() ? nullptr : type_of(datatype);
  if (check.failed()) return check.error();
  if (type == nullptr) return bad_type(&check.file(), check.function(), datatype);
  int error = MPI_SUCCESS;
  Type* in_file = type_in_file(const_cast<Type&>(*type), *check.file().datarep, error);
  if (in_file == nullptr) {
    check.fail(error, "the datatype has no form in the representation %s: %s", check.file().datarep->name.c_str(),
               error_text(error));
    return check.error();
  }
  *extent = in_file->extent;
  release_type(in_file);
  return MPI_SUCCESS;
}

int file_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint* extent) {
  MPI_Count wide = 0;
  if (no_address(extent)) return null_argument(&no_file(), "MPI_File_get_type_extent", "extent");
  const int error = file_get_type_extent_c(fh, datatype, &wide);
  if (error == MPI_SUCCESS) *extent = wide;
  return error;
}

}  // namespace weft::mpi
