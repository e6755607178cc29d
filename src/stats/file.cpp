// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace weft::stats {

int create_file() {
  const int fd = memfd_create(file_name, MFD_CLOEXEC);
  if (fd < 0 || fchmod(fd, 0600) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

namespace {

bool leads_to_file(const std::string& link) {
  char target[64] = "";
  const ssize_t length = readlink(link.c_str(), target, sizeof target - 1);
  return length > 0 && strncmp(target, file_link, strlen(file_link)) == 0;
}

}  // namespace

bool is_file(int fd) {
  return leads_to_file("/proc/self/fd/" + std::to_string(fd));
}

int open_file_of(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  DIR* descriptors = opendir(folder.c_str());
  if (descriptors == nullptr) return -1;
  std::string found;
  while (const dirent* entry = readdir(descriptors)) {
    const std::string link = folder + "/" + entry->d_name;
    if (leads_to_file(link)) found = link;
  }
  closedir(descriptors);
  errno = ENOENT;
  return found.empty() ? -1 : open(found.c_str(), O_RDONLY | O_CLOEXEC);
}

AreaFileReader::AreaFileReader(int fd) : fd_(fd) {
  struct stat s;
  // Whichever place has begun first says how many ranks there are; all areas are alike.
  const off_t first = lseek(fd, 0, SEEK_DATA);
  AreaHead head{};
  if (first < 0 || fstat(fd, &s) != 0 || pread(fd, &head, sizeof head, first) != sizeof head) return;
  if (head.magic != magic || head.size < 1 || head.size > most_ranks) return;
  stride_ = area_bytes(head.size);
  if (static_cast<size_t>(first) % stride_ == 0) count_ = static_cast<int>(static_cast<size_t>(s.st_size) / stride_);
}

AreaFileReader::~AreaFileReader() {
  if (copy_ != nullptr) munmap(copy_, stride_);
}

const Area* AreaFileReader::area(int place) {
  if (place < 0 || place >= count_) return nullptr;
  if (copy_ != nullptr) munmap(copy_, stride_);
  copy_ = mmap(nullptr, stride_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy_ == MAP_FAILED) copy_ = nullptr;
  if (copy_ == nullptr) return nullptr;
  const off_t begin = static_cast<off_t>(stride_) * place;
  const off_t end = begin + static_cast<off_t>(stride_);
  for (off_t at = lseek(fd_, begin, SEEK_DATA); at >= 0 && at < end; at = lseek(fd_, at, SEEK_DATA)) {
    const off_t hole = std::min(lseek(fd_, at, SEEK_HOLE), end);
    if (hole <= at) break;
    const ssize_t bytes = pread(fd_, static_cast<char*>(copy_) + (at - begin), static_cast<size_t>(hole - at), at);
    if (bytes <= 0) break;
    at += bytes;
  }
  const auto* area = static_cast<const Area*>(copy_);
  const AreaHead& head = area->head;
  const bool good = head.magic == magic && head.size >= 1 && head.size <= most_ranks &&
                    area_bytes(head.size) == stride_ && head.rank >= 0 && head.rank < head.size &&
                    head.level <= static_cast<uint32_t>(Level::full);
  return good ? area : nullptr;
}

bool leave_text(int fd, Area& own, const std::string& text) {
  const size_t stride = area_bytes(own.head.size);
  const auto begin = static_cast<off_t>(stride) * own.head.size;
  // Fewer bytes than an area has are no further area.
  if (text.size() >= stride || pwrite(fd, text.data(), text.size(), begin) != static_cast<ssize_t>(text.size()))
    return false;
  std::atomic_ref(own.head.text_bytes).store(text.size(), std::memory_order_release);
  return true;
}

std::string AreaFileReader::text() {
  uint64_t bytes = 0;
  for (int place = 0; place < count_ && bytes == 0; ++place) {
    if (const Area* one = area(place)) bytes = one->head.text_bytes;
  }
  std::string text(bytes < stride_ ? bytes : 0, '\0');
  const off_t begin = static_cast<off_t>(stride_) * count_;
  if (pread(fd_, text.data(), text.size(), begin) != static_cast<ssize_t>(text.size())) return {};
  return text;
}

}  // namespace weft::stats
