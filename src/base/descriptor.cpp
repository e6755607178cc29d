// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/descriptor.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/message.hpp"

namespace weft::base {
namespace {

constinit std::atomic<int (*)(const Descriptor&)> finder{nullptr};

}  // namespace

Descriptor::Descriptor(int number, const char* purpose) : number_(number), purpose_(purpose) {
  struct stat file = {};
  if (number < 0 || fstat(number, &file) != 0) return;
  device_ = file.st_dev;
  inode_ = file.st_ino;
}

bool Descriptor::is_same(int other) const {
  struct stat file = {};
  return fstat(other, &file) == 0 && file.st_dev == device_ && file.st_ino == inode_;
}

int Descriptor::number() const {
  if (is_intact()) return number_;
  const auto find = finder.load(std::memory_order_acquire);
  const int found = find != nullptr && number_ >= 0 ? find(*this) : -1;
  if (found < 0) errno = EBADF;
  return found;
}

int Descriptor::needed() const {
  const int found = number();
  if (found >= 0) return found;
  die({.cause = "the program has closed descriptor " + std::to_string(number_) + ", which Weft opened for " + purpose_,
       .remedy =
           "leave descriptors above 2 alone that the program did not open (close_range, closefrom), or close them "
           "before MPI_Init"});
}

void Descriptor::close() {
  if (is_intact()) ::close(number_);
  number_ = -1;
}

void Descriptor::set_finder(int (*find)(const Descriptor& closed)) {
  finder.store(find, std::memory_order_release);
}

void close_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  // Before Linux 5.9 the call does not exist.
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const int number = atoi(entry->d_name);
    if (number >= first && number != dirfd(folder)) ::close(number);
  }
  closedir(folder);
}

}  // namespace weft::base
