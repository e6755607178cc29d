// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/result.hpp"

#include <cerrno>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "device/api/device.hpp"

namespace weft::io {

int32_t class_of_errno(int32_t system) {
  switch (system) {
    case 0:
      return no_error;
    case ENOENT:
      return no_such_file;
    case EACCES:
    case EPERM:
      return no_access;
    case EEXIST:
      return file_exists;
    case EROFS:
      return read_only;
    case ENOSPC:
    case EFBIG:
      return no_space;
    case EDQUOT:
      return quota_exceeded;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return bad_file;
    case ETXTBSY:
    case EBUSY:
      return file_in_use;
    case ENOMEM:
      return no_memory;
    default:
      return io_error;
  }
}

namespace {

std::string action_of(const Result& result) {
  const std::string range = std::to_string(result.bytes) + " bytes at byte " + std::to_string(result.offset) + " of ";
  switch (result.act) {
    case Act::none:
    case Act::mode:
    case Act::arguments:
    case Act::exchange:
    case Act::open:
      return "open ";
    case Act::close:
      return "close ";
    case Act::remove:
      return "delete ";
    case Act::read:
      return "read " + range;
    case Act::write:
      return "write " + range;
    case Act::lock:
      return "lock " + range;
    case Act::sync:
      return "write to the storage device what was written to ";
    case Act::stat:
      return "find out the size of ";
    case Act::resize:
      return "set to " + std::to_string(result.bytes) + " bytes the size of ";
    case Act::reserve:
      return "reserve " + std::to_string(result.bytes) + " bytes for ";
    case Act::buffer:
      return "allocate " + std::to_string(result.bytes) + " bytes of memory for an access to ";
    case Act::convert:
      return "convert to the file's data representation what is written to ";
    case Act::thread:
      return "start a thread for accesses to ";
    case Act::copy:
      return "copy from or to a device the data of ";
    case Act::atomic:
      return "make atomic, for the ranks of several hosts, accesses to ";
  }
  return "use ";
}

const char* remedy_of(const Result& result) {
  if (result.act == Act::atomic)
    return "the file is on NFS, mounted without locks: mount it without nolock and local_lock";
  switch (result.system) {
    case ENOSPC:
      return "free space on the file system, or write elsewhere";
    case EDQUOT:
      return "your quota on the file system is used up: delete files, or write elsewhere";
    case EFBIG:
      return "the file is larger than the file system or \"ulimit -f\" allows";
    case ENOENT:
      return result.act == Act::remove ? "check the path; a relative path starts at the rank's working directory"
                                       : "check the path; MPI_MODE_CREATE creates the file, and no folder above it; a "
                                         "relative path starts at "
                                         "each rank's working directory";
    case ENOTDIR:
      return "check the path: something above its last part is no folder";
    case EEXIST:
      return "delete the file first, or leave out MPI_MODE_EXCL";
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of the folders above it";
    case EROFS:
      return "the file system is mounted read-only: write elsewhere";
    case EBADF:
      return "leave descriptors alone that the program did not open itself (close_range, closefrom)";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    case ENOLCK:
    case EOPNOTSUPP:
      return result.act == Act::lock
                 ? "the file system gives no locks, which atomic mode, romio_ds_write=enable and NFS with ranks on "
                   "several hosts need: mount it with locks"
                 : "the file system cannot do this";
    case EISDIR:
      return "the path names a folder";
    case EINVAL:
      return result.act == Act::read || result.act == Act::write ? "the file system refuses this offset or size" : "";
    case EIO:
      return "the storage failed: see the system's log";
    case ESTALE:
      return "the file was removed or replaced on its server";
    default:
      return "";
  }
}

}  // namespace

std::string describe(const Result& result, const std::string& path) {
  std::string cause = result.rank >= 0 ? "rank " + std::to_string(result.rank) + " cannot " : "cannot ";
  cause += action_of(result) + base::quoted_path(path);
  if (result.act == Act::copy && result.rank < 0) cause += ": " + device::last_problem();
  if (result.act == Act::exchange) cause = "the ranks could not exchange data of " + base::quoted_path(path);
  return base::describe({.cause = cause, .error = result.system, .remedy = remedy_of(result)});
}

}  // namespace weft::io
