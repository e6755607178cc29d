// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/file/file.hpp"

#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

static_assert(io::wrong_argument == MPI_ERR_ARG && io::other_error == MPI_ERR_OTHER &&
              io::internal_error == MPI_ERR_INTERN && io::no_access == MPI_ERR_ACCESS &&
              io::wrong_mode == MPI_ERR_AMODE && io::bad_file == MPI_ERR_BAD_FILE &&
              io::no_conversion == MPI_ERR_CONVERSION && io::file_exists == MPI_ERR_FILE_EXISTS &&
              io::file_in_use == MPI_ERR_FILE_IN_USE && io::io_error == MPI_ERR_IO && io::no_memory == MPI_ERR_NO_MEM &&
              io::not_same == MPI_ERR_NOT_SAME && io::no_space == MPI_ERR_NO_SPACE &&
              io::no_such_file == MPI_ERR_NO_SUCH_FILE && io::quota_exceeded == MPI_ERR_QUOTA &&
              io::read_only == MPI_ERR_READ_ONLY && io::unsupported_operation == MPI_ERR_UNSUPPORTED_OPERATION);

std::string text_of(const io::Result& result, const std::string& path) {
  if (result.act == io::Act::arguments) {
    return "the arguments of rank " + std::to_string(result.rank) + " are wrong (" + error_text(result.error) +
           "), so no rank did anything";
  }
  if (result.act == io::Act::mode) return "the ranks do not give the same amode";
  return io::describe(result, path);
}

int raise(const char* function, const File& file, const io::Result& result) {
  if (!result.failed()) return MPI_SUCCESS;
  return fail(ErrorsOn(&file), function, result.error, "%s", text_of(result, file.path).c_str());
}

void FileCheck::offset(MPI_Offset offset, const char* name) {
  if (failed() || offset >= 0) return;
  error_ = negative(on(), function_, MPI_ERR_ARG, name, offset);
}

void FileCheck::reads() {
  if (failed() || file_->mode.reads) return;
  fail(MPI_ERR_ACCESS, "the file was opened with MPI_MODE_WRONLY: open it with MPI_MODE_RDWR to read it");
}

void FileCheck::writes() {
  if (failed() || file_->mode.writes) return;
  fail(MPI_ERR_READ_ONLY, "the file was opened with MPI_MODE_RDONLY: open it with MPI_MODE_RDWR to write to it");
}

void FileCheck::not_sequential() {
  if (failed() || (file_->amode & MPI_MODE_SEQUENTIAL) == 0) return;
  fail(MPI_ERR_UNSUPPORTED_OPERATION,
       "the file was opened with MPI_MODE_SEQUENTIAL, which allows access by the shared pointer alone");
}

}  // namespace weft::mpi
