// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/clock.hpp"
#include "io/calls.hpp"

namespace weft::io {
namespace {

constexpr int64_t most_at_once = int64_t{1} << 30;  // Linux moves 2 GiB less a page at most

constinit std::atomic<uint64_t> whole_cached_reads = 0;

struct flock lock_of(short type, int64_t offset, int64_t bytes) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = bytes;
  return lock;
}

// Counts a call, where that is asked for.
class Timed {
 public:
  Timed(const Disk& disk, bool writes, int64_t offset)
      : tally_(disk.tally), writes_(writes), offset_(offset), start_(disk.tally != nullptr ? base::now_ns() : 0) {}
  void end(int64_t bytes) const {
    if (tally_ != nullptr) tally_->call(writes_, offset_, bytes, base::now_ns() - start_);
  }

 private:
  Tally* const tally_;
  const bool writes_;
  const int64_t offset_;
  const uint64_t start_;
};

}  // namespace

Result write_all(const Disk& disk, const void* buffer, int64_t bytes, int64_t offset, int64_t& done) {
  done = 0;
  const auto* from = static_cast<const char*>(buffer);
  while (done < bytes) {
    const auto part = static_cast<size_t>(std::min(bytes - done, most_at_once));
    const Timed timed(disk, true, offset + done);
    const ssize_t written = calls().pwrite(disk.fd, from + done, part, offset + done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure(Act::write, errno, offset + done, bytes - done);
    if (written == 0) return system_failure(Act::write, ENOSPC, offset + done, bytes - done);
    timed.end(written);
    done += written;
  }
  return {};
}

Result read_all(const Disk& disk, void* buffer, int64_t bytes, int64_t offset, int64_t& done) {
  done = 0;
  auto* to = static_cast<char*>(buffer);
  while (done < bytes) {
    const auto part = static_cast<size_t>(std::min(bytes - done, most_at_once));
    const Timed timed(disk, false, offset + done);
    const ssize_t got = calls().pread(disk.fd, to + done, part, offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(Act::read, errno, offset + done, bytes - done);
    if (got == 0) break;
    timed.end(got);
    done += got;
  }
  return {};
}

bool read_cached(const Disk& disk, void* buffer, int64_t bytes, int64_t offset) {
  const Timed timed(disk, false, offset);
  if (calls().pread_cached(disk.fd, buffer, static_cast<size_t>(bytes), offset) != bytes) return false;
  timed.end(bytes);
  whole_cached_reads.fetch_add(1, std::memory_order_relaxed);
  return true;
}

uint64_t cached_reads() {
  return whole_cached_reads.load(std::memory_order_relaxed);
}

Result size_of(int fd, int64_t& size) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return system_failure(Act::stat, errno);
  size = facts.st_size;
  return {};
}

Result RangeLock::take(int fd, bool exclusive, int64_t offset, int64_t bytes) {
  struct flock lock = lock_of(exclusive ? F_WRLCK : F_RDLCK, offset, bytes);
  while (::fcntl(fd, F_OFD_SETLKW, &lock) != 0) {
    if (errno != EINTR) return system_failure(Act::lock, errno, offset, bytes);
  }
  fd_ = fd;
  offset_ = offset;
  bytes_ = bytes;
  return {};
}

void RangeLock::release() {
  if (fd_ < 0) return;
  struct flock lock = lock_of(F_UNLCK, offset_, bytes_);
  (void)::fcntl(fd_, F_OFD_SETLK, &lock);
  fd_ = -1;
}

}  // namespace weft::io
