// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The system calls on which files stand, behind pointers: tests put calls there that write less than asked, are
// interrupted or fail. They return and set errno as the system's do.

#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>

#include "io/file_system.hpp"

namespace weft::io {

struct Calls {
  int (*open)(const char* path, int flags, mode_t mode);
  int (*close)(int fd);
  int (*unlink)(const char* path);
  ssize_t (*pread)(int fd, void* buffer, size_t bytes, off_t offset);
  ssize_t (*pwrite)(int fd, const void* buffer, size_t bytes, off_t offset);
  ssize_t (*preadv)(int fd, const iovec* parts, int count, off_t offset);
  ssize_t (*pwritev)(int fd, const iovec* parts, int count, off_t offset);
  int (*fsync)(int fd);
  int (*ftruncate)(int fd, off_t size);
  int (*fallocate)(int fd, off_t offset, off_t bytes);                        // 0 or an errno, as posix_fallocate
  ssize_t (*pread_cached)(int fd, void* buffer, size_t bytes, off_t offset);  // fails with EAGAIN where it would wait
  int (*lock)(int fd, int command, struct flock* range);                      // of an open file: F_OFD_SETLK and so on
  FileSystem (*file_system)(int fd);
  // After a read that the kernel did by itself (ring.hpp): the errno of a fault, or 0 and perhaps fewer bytes. nullptr:
  // there are no faults.
  int (*strike)(size_t& bytes, bool writes) = nullptr;
};

// The calls with the faults that the setting WEFT_IO_FAULTS asks for, or the system's calls.
[[nodiscard]] const Calls& calls();
// Sets other calls, for unit tests; nullptr sets those of calls() above again.
void set_calls(const Calls* calls);

}  // namespace weft::io
