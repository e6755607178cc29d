// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/calls.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/message.hpp"
#include "base/test_setting.hpp"

namespace weft::io {
namespace {

constinit base::TextSetting faults{
    {.name = "WEFT_IO_FAULTS",
     .help = "for tests: calls on files in 1000 that fail, as \"short=100,eintr=50,enospc=5,eio=5,uncached=500,"
             "enolck=5,seed=1\"; \"nfs=1\": files lie on NFS, \"nfs=2\": with locks of the host alone, \"lustre=1\"; "
             "\"delay=1000\": "
             "microseconds of each call",
     .level = base::SettingLevel::expert}};
WEFT_TEST_SETTING(faults);

int open_file(const char* path, int flags, mode_t mode) {
  return ::open(path, flags, mode);
}

ssize_t pread_cached(int fd, void* buffer, size_t bytes, off_t offset) {
  const iovec part{buffer, bytes};
  return ::preadv2(fd, &part, 1, offset, RWF_NOWAIT);
}

ssize_t read_parts(int fd, const iovec* parts, int count, off_t offset) {
  return ::preadv2(fd, parts, count, offset, 0);
}

ssize_t write_parts(int fd, const iovec* parts, int count, off_t offset) {
  return ::pwritev2(fd, parts, count, offset, 0);
}

int lock_range(int fd, int command, struct flock* range) {
  return ::fcntl(fd, command, range);
}

constexpr Calls system_calls{open_file,    ::close,     ::unlink,      ::pread,     ::pwrite,
                             read_parts,   write_parts, ::fsync,       ::ftruncate, ::posix_fallocate,
                             pread_cached, lock_range,  file_system_of};

// The plan of faults. Calls of all threads draw from one sequence of numbers.
struct FaultPlan {
  uint32_t shorts = 0;
  uint32_t interrupted = 0;
  uint32_t full = 0;
  uint32_t broken = 0;
  uint32_t uncached = 0;
  uint32_t unlocked = 0;
  uint32_t nfs = 0;
  uint32_t lustre = 0;
  uint32_t delay = 0;
  std::atomic<uint64_t> state = 1;
};
constinit FaultPlan plan;

uint32_t draw() {
  uint64_t x = plan.state.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return static_cast<uint32_t>((x ^ (x >> 31)) >> 33);
}

bool happens(uint32_t in_1000) {
  return in_1000 != 0 && draw() % 1000 < in_1000;
}

void be_late() {
  if (plan.delay != 0) ::usleep(plan.delay);
}

// The errno of a fault that strikes this call, 0: none. The size of a transfer may shrink.
int strike(size_t& bytes, bool writes) {
  if (happens(plan.interrupted)) return EINTR;
  if (writes && happens(plan.full)) return ENOSPC;
  if (happens(plan.broken)) return EIO;
  if (bytes > 1 && happens(plan.shorts)) bytes = 1 + draw() % (bytes - 1);
  return 0;
}

ssize_t faulty_pread(int fd, void* buffer, size_t bytes, off_t offset) {
  be_late();
  if (const int error = strike(bytes, false); error != 0) {
    errno = error;
    return -1;
  }
  return ::pread(fd, buffer, bytes, offset);
}

ssize_t faulty_pwrite(int fd, const void* buffer, size_t bytes, off_t offset) {
  be_late();
  if (const int error = strike(bytes, true); error != 0) {
    errno = error;
    return -1;
  }
  return ::pwrite(fd, buffer, bytes, offset);
}

// A list that holds the first bytes of another one.
std::vector<iovec> first_bytes(const iovec* parts, int count, size_t bytes) {
  std::vector<iovec> first;
  for (int i = 0; i < count && bytes > 0; ++i) {
    first.push_back({parts[i].iov_base, std::min(parts[i].iov_len, bytes)});
    bytes -= first.back().iov_len;
  }
  return first;
}

template <class Move>
ssize_t faulty_parts(const iovec* parts, int count, bool writes, Move&& move) {
  be_late();
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  if (const int error = strike(bytes, writes); error != 0) {
    errno = error;
    return -1;
  }
  const std::vector<iovec> first = first_bytes(parts, count, bytes);
  return move(first.data(), static_cast<int>(first.size()));
}

ssize_t faulty_preadv(int fd, const iovec* parts, int count, off_t offset) {
  return faulty_parts(parts, count, false, [&](const iovec* some, int n) { return read_parts(fd, some, n, offset); });
}

ssize_t faulty_pwritev(int fd, const iovec* parts, int count, off_t offset) {
  return faulty_parts(parts, count, true, [&](const iovec* some, int n) { return write_parts(fd, some, n, offset); });
}

int faulty_fsync(int fd) {
  size_t none = 0;
  if (const int error = strike(none, true); error != 0) {
    errno = error;
    return -1;
  }
  return ::fsync(fd);
}

ssize_t faulty_pread_cached(int fd, void* buffer, size_t bytes, off_t offset) {
  if (happens(plan.uncached)) {
    errno = EAGAIN;
    return -1;
  }
  const int error = strike(bytes, false);
  errno = error;
  return error != 0 ? -1 : pread_cached(fd, buffer, bytes, offset);
}

int faulty_lock(int fd, int command, struct flock* range) {
  if (range->l_type != F_UNLCK && happens(plan.unlocked)) {
    errno = ENOLCK;
    return -1;
  }
  return lock_range(fd, command, range);
}

FileSystem pretended_file_system(int fd) {
  if (plan.nfs != 0) return {.storage = Storage::nfs, .local_locks = plan.nfs > 1};
  if (plan.lustre != 0) return {.storage = Storage::lustre};
  FileSystem found = file_system_of(fd);
  if (plan.uncached != 0) found.in_memory = false;
  return found;
}

constexpr Calls faulty_calls{open_file,
                             ::close,
                             ::unlink,
                             faulty_pread,
                             faulty_pwrite,
                             faulty_preadv,
                             faulty_pwritev,
                             faulty_fsync,
                             ::ftruncate,
                             ::posix_fallocate,
                             faulty_pread_cached,
                             faulty_lock,
                             pretended_file_system,
                             strike};

uint32_t* number_of(std::string_view key) {
  struct FaultRow {
    std::string_view key;
    uint32_t FaultPlan::*number;
  };
  constexpr FaultRow rows[] = {
      {"short", &FaultPlan::shorts}, {"eintr", &FaultPlan::interrupted}, {"enospc", &FaultPlan::full},
      {"eio", &FaultPlan::broken},   {"uncached", &FaultPlan::uncached}, {"enolck", &FaultPlan::unlocked},
      {"nfs", &FaultPlan::nfs},      {"lustre", &FaultPlan::lustre},     {"delay", &FaultPlan::delay}};
  for (const FaultRow& row : rows) {
    if (row.key == key) return &(plan.*row.number);
  }
  return nullptr;
}

bool read_plan(std::string_view text) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = word.substr(0, equals);
    uint32_t value = 0;
    if (std::from_chars(word.data() + equals + 1, word.data() + word.size(), value).ec != std::errc()) return false;
    if (key == "seed") {
      plan.state.store(value * 0x2545f4914f6cdd1d, std::memory_order_relaxed);
    } else if (uint32_t* number = number_of(key); number != nullptr) {
      *number = value;
    } else {
      return false;
    }
  }
  return true;
}

const Calls& chosen() {
  static const Calls& chosen_once = []() -> const Calls& {
    if (*faults.value() == '\0') return system_calls;
    if (read_plan(faults.value())) return faulty_calls;
    base::warn({.cause = "WEFT_IO_FAULTS is " + base::quoted(faults.value()) + ", which is not understood",
                .remedy = "write it as \"short=100,eintr=50,enospc=5,eio=5,uncached=500,seed=1\""});
    return system_calls;
  }();
  return chosen_once;
}

constinit std::atomic<const Calls*> replaced = nullptr;

}  // namespace

const Calls& calls() {
  const Calls* given = replaced.load(std::memory_order_acquire);
  return given != nullptr ? *given : chosen();
}

void set_calls(const Calls* calls) {
  replaced.store(calls, std::memory_order_release);
}

}  // namespace weft::io
