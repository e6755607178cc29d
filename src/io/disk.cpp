// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/copy.hpp"
#include "io/calls.hpp"

namespace weft::io {
namespace {

constinit std::atomic<uint64_t> whole_cached_reads = 0;
constinit std::atomic<uint64_t> calls_past_cache = 0;
constinit std::atomic<uint64_t> calls_of_lists = 0;

struct flock lock_of(short type, int64_t offset, int64_t bytes) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = bytes;
  return lock;
}

// Counts a call, where that is asked for.
class TimedCall {
 public:
  TimedCall(const Disk& disk, bool writes, int64_t offset)
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

// A file system with larger blocks: from now on all goes through the page cache.
bool refused(const Disk& disk, const NextCall& way) {
  if (!way.direct || errno != EINVAL) return false;
  disk.direct->refused.store(true, std::memory_order_relaxed);
  return true;
}

Result no_aligned_memory() {
  return {.error = no_memory, .system = ENOMEM, .act = Act::buffer, .bytes = Direct::copied_at_once};
}

// The rest of a list whose first bytes have been moved.
struct RemainingList {
  iovec* first;
  int count;
  int64_t bytes = 0;

  RemainingList(iovec* parts, int n) : first(parts), count(n) {
    for (int i = 0; i < n; ++i) bytes += static_cast<int64_t>(parts[i].iov_len);
  }
  void moved(size_t some) {
    bytes -= static_cast<int64_t>(some);
    for (; count > 0 && some >= first->iov_len; ++first, --count) some -= first->iov_len;
    if (some == 0) return;
    first->iov_base = static_cast<char*>(first->iov_base) + some;
    first->iov_len -= some;
  }
};

}  // namespace

Result write_all(const Disk& disk, const void* buffer, int64_t bytes, int64_t offset, int64_t& done) {
  done = 0;
  const auto* from = static_cast<const char*>(buffer);
  Aligned aligned;
  while (done < bytes) {
    const NextCall way = way_of(disk.fd, disk.direct, true, from + done, offset + done, bytes - done);
    char* copy = way.copied ? aligned.get() : nullptr;
    if (way.copied && copy == nullptr) return no_aligned_memory();
    if (copy != nullptr) base::copy(copy, from + done, way.bytes);
    const TimedCall timed(disk, true, offset + done);
    const ssize_t written = calls().pwrite(way.fd, copy != nullptr ? copy : from + done, way.bytes, offset + done);
    if (written < 0 && (errno == EINTR || refused(disk, way))) continue;
    if (written < 0) return system_failure(Act::write, errno, offset + done, bytes - done);
    if (written == 0) return system_failure(Act::write, ENOSPC, offset + done, bytes - done);
    timed.end(written);
    if (way.direct) calls_past_cache.fetch_add(1, std::memory_order_relaxed);
    done += written;
  }
  return {};
}

Result read_all(const Disk& disk, void* buffer, int64_t bytes, int64_t offset, int64_t& done) {
  done = 0;
  auto* to = static_cast<char*>(buffer);
  Aligned aligned;
  while (done < bytes) {
    const NextCall way = way_of(disk.fd, disk.direct, false, to + done, offset + done, bytes - done);
    char* copy = way.copied ? aligned.get() : nullptr;
    if (way.copied && copy == nullptr) return no_aligned_memory();
    const TimedCall timed(disk, false, offset + done);
    const ssize_t got = calls().pread(way.fd, copy != nullptr ? copy : to + done, way.bytes, offset + done);
    if (got < 0 && (errno == EINTR || refused(disk, way))) continue;
    if (got < 0) return system_failure(Act::read, errno, offset + done, bytes - done);
    if (got == 0) break;
    if (copy != nullptr) base::copy(to + done, copy, static_cast<size_t>(got));
    timed.end(got);
    if (way.direct) calls_past_cache.fetch_add(1, std::memory_order_relaxed);
    done += got;
  }
  return {};
}

Result write_all(const Disk& disk, iovec* parts, int count, int64_t offset, int64_t& done) {
  done = 0;
  for (RemainingList left(parts, count); left.bytes > 0;) {
    const TimedCall timed(disk, true, offset + done);
    const ssize_t written = calls().pwritev(disk.fd, left.first, left.count, offset + done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_failure(Act::write, written < 0 ? errno : ENOSPC, offset + done, left.bytes);
    timed.end(written);
    calls_of_lists.fetch_add(1, std::memory_order_relaxed);
    left.moved(static_cast<size_t>(written));
    done += written;
  }
  return {};
}

Result read_all(const Disk& disk, iovec* parts, int count, int64_t offset, int64_t& done) {
  done = 0;
  for (RemainingList left(parts, count); left.bytes > 0;) {
    const TimedCall timed(disk, false, offset + done);
    const ssize_t got = calls().preadv(disk.fd, left.first, left.count, offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(Act::read, errno, offset + done, left.bytes);
    if (got == 0) break;
    timed.end(got);
    calls_of_lists.fetch_add(1, std::memory_order_relaxed);
    left.moved(static_cast<size_t>(got));
    done += got;
  }
  return {};
}

uint64_t list_calls() {
  return calls_of_lists.load(std::memory_order_relaxed);
}

bool read_cached(const Disk& disk, void* buffer, int64_t bytes, int64_t offset) {
  const TimedCall timed(disk, false, offset);
  if (calls().pread_cached(disk.fd, buffer, static_cast<size_t>(bytes), offset) != bytes) return false;
  timed.end(bytes);
  whole_cached_reads.fetch_add(1, std::memory_order_relaxed);
  return true;
}

uint64_t cached_reads() {
  return whole_cached_reads.load(std::memory_order_relaxed);
}

uint64_t direct_calls() {
  return calls_past_cache.load(std::memory_order_relaxed);
}

Result size_of(int fd, int64_t& size) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return system_failure(Act::stat, errno);
  size = facts.st_size;
  return {};
}

Result RangeLock::take(int fd, bool exclusive, int64_t offset, int64_t bytes) {
  struct flock lock = lock_of(exclusive ? F_WRLCK : F_RDLCK, offset, bytes);
  while (calls().lock(fd, F_OFD_SETLKW, &lock) != 0) {
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
  (void)calls().lock(fd_, F_OFD_SETLK, &lock);
  fd_ = -1;
}

}  // namespace weft::io
