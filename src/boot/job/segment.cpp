// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "base/lock.hpp"
#include "base/message.hpp"
#include "base/process.hpp"

namespace weft::boot {
namespace {

constexpr const char* segment_name = "weft";
constexpr const char* segment_link = "/memfd:weft";

// An address in numbers.
struct SegmentAddress {
  int pid = 0;
  int descriptor = 0;
  unsigned long long device = 0;
  unsigned long long inode = 0;
};

bool find_place(const std::string& address, SegmentAddress& at) {
  return sscanf(address.c_str(), "%9d:%9d:%20llu:%20llu", &at.pid, &at.descriptor, &at.device, &at.inode) == 4 &&
         at.pid > 0 && at.descriptor >= 0;
}

// Where the job's segment is found when the program has closed its descriptor.
struct SegmentSource {
  base::Lock lock;
  std::string address;
  base::Descriptor again;
};

SegmentSource& source() {
  static auto* const one = new SegmentSource;
  return *one;
}

bool same_file(int fd, const SegmentAddress& at) {
  struct stat s;
  return fstat(fd, &s) == 0 && s.st_dev == at.device && s.st_ino == at.inode;
}

// Where /proc is not mounted or hides the other's descriptors.
int open_by_pidfd(pid_t pid, int remote_fd) {
  const int process = base::open_process(pid);
  if (process < 0) return -1;
  const int fd = base::descriptor_of(process, remote_fd);
  const int error = errno;
  close(process);
  errno = error;
  return fd;
}

// -1: it is another file, or that process has ended or has closed it too.
int open_again(const base::Descriptor& closed) {
  SegmentSource& from = source();
  const std::lock_guard guard(from.lock);
  if (from.again.is_intact() && closed.is_same(from.again.unchecked())) return from.again.unchecked();
  const int found = open_segment(from.address);
  if (found < 0) return -1;
  if (!closed.is_same(found)) {
    close(found);
    return -1;
  }
  from.again = found;
  return found;
}

}  // namespace

base::Descriptor keep_segment(int fd, const std::string& address) {
  source().address = address;
  base::Descriptor::set_finder(open_again);
  return {fd, "the job's shared memory"};
}

int create_segment(bool inherited) {
  int fd = memfd_create(segment_name, MFD_ALLOW_SEALING | (inherited ? 0 : MFD_CLOEXEC));
  if (fd >= 0 && fchmod(fd, 0600) != 0) {
    int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

int create_huge_file(size_t page, size_t bytes) {
  constexpr unsigned huge = 4;         // MFD_HUGETLB
  constexpr unsigned size_shift = 26;  // MFD_HUGE_SHIFT
  const auto log2 = static_cast<unsigned>(std::countr_zero(page));
  const int fd = memfd_create("weft-huge", MFD_CLOEXEC | huge | log2 << size_shift);
  if (fd < 0) return -1;
  if (fchmod(fd, 0600) == 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

bool is_segment(int fd) {
  struct stat s;
  if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) return false;
  char link[64];
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(path, link, sizeof link);
  if (n < 0) return true;  // no /proc: the size will be compared
  return std::string_view(link, static_cast<size_t>(n)).starts_with(segment_link);
}

// Ranks do this at the same time. In any order, the size is final once one of them has sealed it, and a rank that then
// finds another size than its own knows that they disagree. A sealed segment cannot shrink under a rank's mapping.
// Before the first rank, mpiexec may have written of one that ended (RankStatus::gone): a few bytes.
bool size_segment(int fd, size_t bytes) {
  struct stat s;
  if (fstat(fd, &s) != 0) return false;
  rlimit limit;  // beyond it the kernel sends SIGXFSZ, which says nothing to the reader
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
    errno = EFBIG;
    return false;
  }
  if (static_cast<size_t>(s.st_size) < bytes && ftruncate(fd, static_cast<off_t>(bytes)) != 0 && errno != EPERM)
    return false;
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) return false;
  if (fstat(fd, &s) != 0) return false;
  if (static_cast<size_t>(s.st_size) == bytes) return true;
  errno = EINVAL;
  return false;
}

bool reserve_segment(int fd, size_t offset, size_t bytes) {
  int failed = 0;
  do {
    failed = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (failed != 0 && errno == EINTR);
  return failed == 0;
}

std::string segment_address(int fd) {
  struct stat s;
  if (fstat(fd, &s) != 0) return {};
  char text[96];
  snprintf(text, sizeof text, "%d:%d:%llu:%llu", getpid(), fd, static_cast<unsigned long long>(s.st_dev),
           static_cast<unsigned long long>(s.st_ino));
  return text;
}

int open_segment(const std::string& address) {
  SegmentAddress at;
  if (!find_place(address, at)) {
    errno = EINVAL;
    return -1;
  }
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", at.pid, at.descriptor);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0 && same_file(fd, at)) return fd;
  if (fd >= 0) close(fd);
  fd = open_by_pidfd(at.pid, at.descriptor);
  if (fd >= 0 && same_file(fd, at)) return fd;
  if (fd >= 0) {  // another process has this number in our view: a namespace of its own
    close(fd);
    errno = ESRCH;
  }
  return -1;
}

int process_in(const std::string& address) {
  SegmentAddress at;
  return find_place(address, at) ? at.pid : 0;
}

bool is_segment_at(int fd, const std::string& address) {
  SegmentAddress at;
  return find_place(address, at) && same_file(fd, at);
}

uint64_t namespace_of_processes() {
  struct stat found = {};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

void die_of_segment(const char* what, int error) {
  base::die(
      {.cause = std::string("the job's shared memory segment: ") + what,
       .error = error,
       .remedy = error == EMFILE || error == ENFILE ? "raise the limit of open files (ulimit -n)"
                 : error == EFBIG
                     ? "raise the limit of file sizes (ulimit -f): the segment counts as a file, though it is in memory"
                     : "start the program with Weft's mpiexec, with /proc mounted and "
                       "memfd_create allowed"});
}

std::string host_identity() {
  char text[192] = "";
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    ssize_t n = read(fd, text, 36);
    text[n > 0 ? n : 0] = 0;
    close(fd);
  }
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  std::string identity = std::string(text) + "@" + host;
  for (char& c : identity) {
    bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || strchr("-._@", c);
    if (!plain) c = '_';
  }
  return identity;
}

}  // namespace weft::boot
