// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Whole reads and writes of an open file, and locks on its bytes. A call that the system interrupts or cuts short goes
// on; the end of the file ends a read. Any thread may call these.

#include <sys/uio.h>

#include "io/direct.hpp"
#include "io/result.hpp"
#include "io/tally.hpp"

namespace weft::io {

// An open file as the system knows it, and what counts the calls on it.
struct Disk {
  int fd;
  Tally* tally = nullptr;    // nullptr: calls are not counted
  Direct* direct = nullptr;  // nullptr: all data go through the page cache
};

// Writes all of the bytes, or returns an error. `done` tells how many were written before the error.
[[nodiscard]] Result write_all(const Disk& disk, const void* buffer, int64_t bytes, int64_t offset, int64_t& done);

// Reads up to the end of the file: `done` is less than `bytes` only there, or with an error.
[[nodiscard]] Result read_all(const Disk& disk, void* buffer, int64_t bytes, int64_t offset, int64_t& done);

// These write and read memory in parts, and change the list of parts. The data go through the page cache.
[[nodiscard]] Result write_all(const Disk& disk, iovec* parts, int count, int64_t offset, int64_t& done);
[[nodiscard]] Result read_all(const Disk& disk, iovec* parts, int count, int64_t offset, int64_t& done);
// The number of calls that moved such lists.
[[nodiscard]] uint64_t list_calls();

// Reads all of the bytes, if the system has them in its cache. False: it would have to wait for some, or cannot tell;
// then the memory may have been written to. Only complete reads are counted.
[[nodiscard]] bool read_cached(const Disk& disk, void* buffer, int64_t bytes, int64_t offset);
// The number of these complete reads.
[[nodiscard]] uint64_t cached_reads();

// The number of calls that moved data past the page cache.
[[nodiscard]] uint64_t direct_calls();

// The size of the file.
[[nodiscard]] Result size_of(int fd, int64_t& size);

// A lock on bytes of the file against all other open files: of other processes, hosts (where the file system passes
// locks on) and other handles of this process. Waits. Locks belong to the open file (F_OFD_SETLKW), so that closing
// another handle of the same file does not lose them.
class RangeLock {
 public:
  RangeLock() = default;
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;
  ~RangeLock() { release(); }

  // `bytes` 0: to the end, wherever that will be. A shared lock needs a file open for reading, an exclusive one a file
  // open for writing.
  [[nodiscard]] Result take(int fd, bool exclusive, int64_t offset, int64_t bytes);
  void release();

 private:
  int fd_ = -1;
  int64_t offset_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace weft::io
