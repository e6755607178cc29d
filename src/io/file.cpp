// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <type_traits>

#include "coll/agree/agree.hpp"
#include "core/object/identity.hpp"
#include "io/calls.hpp"
#include "io/disk.hpp"
#include "io/numbers.hpp"
#include "io/statistics.hpp"

namespace weft::io {
namespace {

Result exchange_failure(int32_t error) {
  return failure(error == core::no_error ? internal_error : error, Act::exchange);
}

int flags_of(const OpenMode& mode) {
  const int access = mode.reads && mode.writes ? O_RDWR : mode.writes ? O_WRONLY : O_RDONLY;
  return access | O_CLOEXEC;
}

bool on_one_host(const core::Comm& comm) {
  return (core::identity->job.one_host() && !comm.several_jobs) || (comm.hosts != nullptr && comm.hosts->count() == 1);
}

// Whether locks can be had where accesses need them, before the first access.
Result try_lock(const File& file) {
  RangeLock lock;
  return lock.take(file.fd(), file.mode.writes, 0, 1);
}

mode_t permissions_of(const File& file) {
  return file.hints.permissions >= 0 ? static_cast<mode_t>(file.hints.permissions) : 0666;
}

// Where the file system has none, all goes through the page cache.
void open_direct(File& file) {
  Hints& hints = file.hints;
  if (!file.regular || (!hints.direct_reads && !hints.direct_writes)) return;
  file.direct.descriptor = calls().open(file.path.c_str(), flags_of(file.mode) | O_DIRECT, 0);
  file.direct.reads = hints.direct_reads;
  file.direct.writes = hints.direct_writes;
}

Result open_here(File& file, int more_flags) {
  while (!file.descriptor.is_open()) {
    file.descriptor = calls().open(file.path.c_str(), flags_of(file.mode) | more_flags, permissions_of(file));
    if (!file.descriptor.is_open() && errno != EINTR) break;
  }
  if (!file.descriptor.is_open()) return system_failure(Act::open, errno);
  struct stat facts {};
  const bool known = ::fstat(file.fd(), &facts) == 0;
  if (known && S_ISDIR(facts.st_mode)) return system_failure(Act::open, EISDIR);
  file.regular = known && S_ISREG(facts.st_mode);
  const FileSystem system = calls().file_system(file.fd());
  file.one_host = on_one_host(*file.comm);
  file.storage = system.storage;
  file.in_memory = system.in_memory;
  file.local = file.one_host && system.storage == Storage::host;
  file.shared_by_locks = !file.one_host && file.regular && system.storage == Storage::nfs;
  file.locks_of_host = file.shared_by_locks && system.local_locks;
  open_direct(file);
  return file.shared_by_locks ? try_lock(file) : Result{};
}

// The storage of the folder in which a file will be.
Storage storage_of_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Storage::other;
  const Storage storage = calls().file_system(fd).storage;
  ::close(fd);
  return storage;
}

// A new file with the striping that hints ask for, where that can be had; otherwise it is left to open_here().
void create_by_hints(File& file, int more_flags) {
  Striping& striping = file.hints.striping;
  if (storage_of_folder(file.path) != Storage::lustre) {
    striping.outcome = Striping::HintOutcome::not_lustre;
  } else if (!file.mode.create || ::access(file.path.c_str(), F_OK) == 0) {
    striping.outcome = Striping::HintOutcome::exists;
  } else {
    file.descriptor =
        create_striped(file.path, flags_of(file.mode) | more_flags, permissions_of(file), striping, file.hints.block);
  }
}

// By rank 0, before the others.
Result create_or_open(File& file) {
  int more = 0;
  if (file.mode.create) more |= O_CREAT;
  if (file.mode.exclusive) more |= O_EXCL;
  Striping& striping = file.hints.striping;
  if (striping.wanted()) create_by_hints(file, more);
  if (striping.outcome != Striping::HintOutcome::none)
    striping = {.outcome = striping.outcome, .error = striping.error};
  const Result result = open_here(file, more);
  if (!result.failed() && file.storage == Storage::lustre) look_up_striping(file.fd(), striping, file.hints.block);
  return result;
}

void close_direct(File& file) {
  const int fd = file.direct.descriptor.number();
  if (fd >= 0) (void)calls().close(fd);
  file.direct.descriptor = {};
}

void close_here(File& file) {
  const int fd = file.fd();
  if (fd >= 0) (void)calls().close(fd);
  file.descriptor = {};
  close_direct(file);
}

// A result of rank 0 on all ranks.
Result from_rank_0(core::Comm& comm, Result result) {
  result.rank = 0;
  if (const int32_t error = coll::bcast(comm, &result, sizeof result, datatype::byte_type, 0)) {
    return exchange_failure(error);
  }
  if (comm.rank == 0) result.rank = -1;
  return result;
}

// Whether this rank calls for all of its host: fsync by one process holds for the writes of all.
bool leads_host(const core::Comm& comm) {
  if (comm.hosts != nullptr) return comm.hosts->place == 0;
  return !core::identity->job.one_host() || comm.several_jobs || comm.rank == 0;
}

Result sync_here(File& file) {
  while (calls().fsync(file.fd()) != 0) {
    if (errno == EINTR) continue;
    // Devices, pipes and some file systems keep nothing back.
    return errno == EINVAL || errno == EROFS ? Result{} : system_failure(Act::sync, errno);
  }
  return {};
}

}  // namespace

Result agree(core::Comm& comm, const Result& mine) {
  if (comm.size == 1) return mine;
  const int64_t ours = mine.failed() ? comm.rank : INT64_MAX;
  int64_t first = ours;
  if (const int32_t error = coll::allreduce(comm, &ours, &first, 1, smaller_number())) return exchange_failure(error);
  if (first == INT64_MAX) return {};
  Result result = mine;
  result.rank = comm.rank;
  const auto root = static_cast<int32_t>(first);
  if (const int32_t error = coll::bcast(comm, &result, sizeof result, datatype::byte_type, root)) {
    return exchange_failure(error);
  }
  if (result.rank == comm.rank) result.rank = -1;
  return result;
}

bool same_on_all(core::Comm& comm, int64_t value) {
  // The smallest of the values and the smallest of their negatives, which ends at the largest.
  const int64_t ours[2] = {value, ~value};
  int64_t all[2] = {value, ~value};
  return coll::allreduce(comm, ours, all, 2, smaller_number()) == core::no_error && all[0] == ~all[1];
}

Result set_atomic_collectively(File& file, bool atomic) {
  const bool possible = !atomic || !file.locks_of_host;
  const Result result = agree(*file.comm, possible ? Result{} : failure(unsupported_operation, Act::atomic));
  if (!result.failed()) file.atomic = atomic;
  return result;
}

Hints hints_in_force(const File& file) {
  Hints hints = file.hints;
  hints.direct_reads = file.direct.moves(false);
  hints.direct_writes = file.direct.moves(true);
  return hints;
}

Result share_hints(File& file) {
  static_assert(std::is_trivially_copyable_v<Hints>);
  const int32_t error = coll::bcast(*file.comm, &file.hints, sizeof file.hints, datatype::byte_type, 0);
  return error == core::no_error ? Result{} : exchange_failure(error);
}

Result open_collectively(File& file, const Result& given, int64_t alike) {
  core::Comm& comm = *file.comm;
  Result result = agree(comm, given);
  if (result.failed()) return result;
  if (!same_on_all(comm, alike)) return failure(not_same, Act::mode);
  if (comm.rank == 0) result = create_or_open(file);
  // The ranks' hints are rank 0's, with what opening the file has shown.
  const Result shared = share_hints(file);
  result = from_rank_0(comm, result);
  if (!result.failed()) {
    result = shared;
    if (comm.rank != 0 && !result.failed()) result = open_here(file, 0);
    result = agree(comm, result);
  }
  if (result.failed()) {
    close_here(file);
  } else {
    begin_statistics(file);
  }
  return result;
}

Result close_collectively(File& file) {
  core::Comm& comm = *file.comm;
  Result result = file.mode.delete_on_close ? Result{} : sync_collectively(file);
  while (calls().close(file.fd()) != 0) {
    // The descriptor is gone, also after EINTR.
    if (errno != EINTR && !result.failed()) result = system_failure(Act::close, errno);
    break;
  }
  file.descriptor = {};
  close_direct(file);
  result = agree(comm, result);
  report_collectively(file);
  if (!file.mode.delete_on_close) return result;
  const Result removed = from_rank_0(comm, comm.rank == 0 ? remove(file.path) : Result{});
  return result.failed() ? result : removed;
}

Result remove(const std::string& path) {
  if (calls().unlink(path.c_str()) != 0) return system_failure(Act::remove, errno);
  return {};
}

Result resize_collectively(File& file, int64_t size, const Result& given) {
  Result result = agree(*file.comm, given);
  if (result.failed()) return result;
  if (file.comm->rank == 0) {
    while (calls().ftruncate(file.fd(), size) != 0) {
      if (errno == EINTR) continue;
      result = system_failure(Act::resize, errno, 0, size);
      break;
    }
  }
  return from_rank_0(*file.comm, result);
}

Result reserve_collectively(File& file, int64_t size, const Result& given) {
  Result result = agree(*file.comm, given);
  if (result.failed()) return result;
  if (file.comm->rank == 0 && size > 0) {
    int error = 0;
    do {
      error = calls().fallocate(file.fd(), 0, size);
    } while (error == EINTR);
    if (error != 0) result = system_failure(Act::reserve, error, 0, size);
  }
  return from_rank_0(*file.comm, result);
}

Result sync_collectively(File& file) {
  core::Comm& comm = *file.comm;
  // One descriptor of each host writes back what all of its ranks have written, and they have when they are here.
  const int64_t ours = file.dirty.exchange(false) ? 0 : 1;
  int64_t all = ours;
  if (const int32_t error = coll::allreduce(comm, &ours, &all, 1, smaller_number())) return exchange_failure(error);
  Result result;
  if (all == 0 && leads_host(comm)) result = sync_here(file);
  result = agree(comm, result);
  if (result.failed() && ours == 0) file.dirty = true;
  return result;
}

namespace {

FileTransfer transfer_of(File& file, const View& view, int64_t position, const Memory& memory) {
  const Hints& hints = file.hints;
  // A call of the system takes as long as reading so many bytes more: from the page cache, and from elsewhere.
  constexpr int64_t gap_of_host = 2 << 10;
  constexpr int64_t gap = 8 << 10;
  return {.disk = file.disk(),
          .view = view,
          .position = position,
          .memory = memory,
          .sieving = {.reads = hints.sieve_reads != HintChoice::disable,
                      .writes = hints.sieve_writes == HintChoice::enable && file.mode.reads,
                      .gap = file.local ? gap_of_host : gap,
                      .buffer = hints.read_buffer,
                      .write_buffer = hints.write_buffer},
          .locks = file.locks()};
}

}  // namespace

Result access_alone(File& file, bool writes, const View& view, int64_t position, const Memory& memory, int64_t& done) {
  std::unique_lock lock(file.guard, std::defer_lock);
  if (file.locks()) lock.lock();
  const FileTransfer transfer = transfer_of(file, view, position, memory);
  if (!writes) return read(transfer, done);
  const Result result = write(transfer, done);
  if (done > 0) file.dirty.store(true, std::memory_order_relaxed);
  return result;
}

void count_access(File& file, bool writes, const View& view, int64_t position, int64_t bytes, bool collective,
                  bool two_phase) {
  if (file.tally == nullptr || bytes == 0) return;
  file.tally->access(writes, {.first = view.offset_of(position),
                              .end = view.offset_of(position + bytes - 1) + 1,
                              .bytes = bytes,
                              .collective = collective,
                              .two_phase = two_phase});
}

Result access_at(File& file, bool writes, const View& view, int64_t position, const Memory& memory, int64_t& done) {
  count_access(file, writes, view, position, memory.bytes(), false, false);
  return access_alone(file, writes, view, position, memory, done);
}

}  // namespace weft::io
