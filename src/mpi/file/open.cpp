// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Opening, closing and deleting files (MPI-5.0, 14.2.1 to 14.2.3).

#include <cstring>

#include "core/progress/waiting.hpp"
#include "io/collective_access.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/env/info.hpp"
#include "mpi/file/file.hpp"
#include "mpi/file/hints.hpp"
#include "mpi/file/pointer.hpp"
#include "mpi/file/view.hpp"
#include "mpi/object/errhandler.hpp"

namespace weft::mpi {
namespace {

constexpr int access_bits = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
constexpr int all_bits = access_bits | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE |
                         MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;

// The fault of an access mode in words; nullptr: it is good.
const char* fault_of(int amode) {
  const int access = amode & access_bits;
  if ((amode & ~all_bits) != 0) return "has bits that are no MPI_MODE_ of files";
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR)
    return "must have exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR";
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return "must not have MPI_MODE_CREATE or MPI_MODE_EXCL with MPI_MODE_RDONLY";
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return "must not have MPI_MODE_SEQUENTIAL with MPI_MODE_RDWR";
  return nullptr;
}

io::OpenMode mode_of(int amode) {
  return {.reads = (amode & MPI_MODE_WRONLY) == 0,
          .writes = (amode & MPI_MODE_RDONLY) == 0,
          .create = (amode & MPI_MODE_CREATE) != 0,
          .exclusive = (amode & MPI_MODE_EXCL) != 0,
          .delete_on_close = (amode & MPI_MODE_DELETE_ON_CLOSE) != 0,
          .append = (amode & MPI_MODE_APPEND) != 0};
}

void destroy(File* file) {
  auto* comm = static_cast<Comm*>(file->comm);
  if (comm != nullptr) {
    comm->file = nullptr;
    destroy_when_unused(comm);
  }
  drop_view(*file);
  drop(file->errhandler);
  base::destroy_object(file);
}

// ROMIO's prefix of the file system's kind, as in "ufs:/scratch/x", says nothing here.
const char* without_prefix(const char* filename) {
  for (const char* prefix : {"ufs:", "nfs:", "lustre:", "gpfs:"}) {
    if (strncmp(filename, prefix, strlen(prefix)) == 0) return filename + strlen(prefix);
  }
  return filename;
}

// The checks that all ranks are told of: a rank with a wrong argument takes part, so that no other waits for it.
void check_all(FileCheck& check, const char* filename, int amode, MPI_Info info) {
  check.pointer(filename, "filename");
  if (!check.failed()) {
    if (const char* fault = fault_of(amode)) check.fail(MPI_ERR_AMODE, "amode is %d: it %s", amode, fault);
  }
  if (!check.failed() && info != MPI_INFO_NULL && info_of(info) == nullptr)
    check.fail(MPI_ERR_INFO, "info is no info object");
}

// The file's own communicator.
int add_comm(const char* function, Comm& parent, File& file) {
  uint32_t context = 0;
  const int32_t error = coll::agree_on_context(founders_of(parent), context);
  if (error != core::no_error) {
    return fail(&no_file(), function, error == core::other_error ? MPI_ERR_OTHER : error,
                "the ranks could not agree on a communicator for the file: free communicators or close files");
  }
  Comm* comm = new_comm(parent, context, hold(parent.group));
  if (comm == nullptr) return no_memory(&no_file(), function, "a communicator");
  comm->file = &file;
  file.comm = comm;
  return MPI_SUCCESS;
}

}  // namespace

int file_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  static const char* function = "MPI_File_open";
  Comm* parent = comm_of(comm);
  if (parent == nullptr) return bad_handle(&no_file(), function, MPI_ERR_COMM, "communicator", comm);
  if (parent->is_inter()) {
    return fail(&no_file(), function, MPI_ERR_COMM, "%s has two groups: files are opened on intra-communicators",
                comm_text(*parent).c_str());
  }
  if (no_address(fh)) return null_argument(&no_file(), function, "fh");
  File* file = base::make_object<File>();
  if (file == nullptr) return no_memory(&no_file(), function, "a file");
  file->errhandler = held_handler(no_file().errhandler);
  set_default_view(*file);
  FileCheck check(function, file);
  check_all(check, filename, amode, info);
  if (!check.failed()) {
    file->path = without_prefix(filename);
    file->amode = amode;
    file->mode = mode_of(amode);
    take_hints(*file, *parent, info_of(info));
  }
  int error = add_comm(function, *parent, *file);
  if (error == MPI_SUCCESS) {
    const io::Result result = io::open_collectively(*file, check.told(), amode);
    check.take(result);
    if (!check.failed()) error = start_pointers(function, *file);
    if (check.failed()) error = check.error();
  }
  if (error != MPI_SUCCESS) {
    destroy(file);
    return error;
  }
  file->kind = base::Kind::file;
  *fh = handle_of<MPI_File>(file);
  return MPI_SUCCESS;
}

int file_close(MPI_File* fh) {
  static const char* function = "MPI_File_close";
  if (no_address(fh)) return null_argument(&no_file(), function, "fh");
  FileCheck check(function, *fh);
  if (check.failed()) return check.error();
  File& file = check.file();
  if (file.split != nullptr) {
    check.fail(MPI_ERR_OTHER, "a split collective access has begun and not ended");
    return check.error();
  }
  io::drain(file);
  core::wait_until([&] { return file.pending.load(std::memory_order_acquire) == 0; });
  end_pointers(file);
  check.take(io::close_collectively(file));
  destroy(&file);
  *fh = MPI_FILE_NULL;
  return check.error();
}

int file_delete(const char* filename, MPI_Info info) {
  static const char* function = "MPI_File_delete";
  if (!is_running()) return not_running(function);
  if (no_address(filename)) return null_argument(&no_file(), function, "filename");
  if (info != MPI_INFO_NULL && info_of(info) == nullptr) return bad_info(&no_file(), function, info);
  const std::string path = without_prefix(filename);
  const io::Result result = io::remove(path);
  if (!result.failed()) return MPI_SUCCESS;
  return fail(&no_file(), function, result.error, "%s", io::describe(result, path).c_str());
}

}  // namespace weft::mpi
