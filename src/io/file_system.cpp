// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/file_system.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace weft::io {
namespace {

constexpr uint64_t lustre_magic = 0x0bd00bd0;

Storage storage_of(uint64_t magic) {
  constexpr uint64_t of_host[] = {TMPFS_MAGIC, EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                  RAMFS_MAGIC, OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC};
  if (magic == NFS_SUPER_MAGIC) return Storage::nfs;
  if (magic == lustre_magic) return Storage::lustre;
  return std::find(std::begin(of_host), std::end(of_host), magic) != std::end(of_host) ? Storage::host : Storage::other;
}

// The word that ends at the next `end`; the rest of the text is what follows it.
std::string_view next_word(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view word = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return word;
}

bool keeps_locks_here(std::string_view options) {
  while (!options.empty()) {
    const std::string_view option = next_word(options, ',');
    if (option == "nolock" || option == "local_lock=all" || option == "local_lock=posix") return true;
  }
  return false;
}

std::string mounts_of_process() {
  std::string text;
  const int fd = ::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(fd, part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(got));
  ::close(fd);
  return text;
}

}  // namespace

bool has_local_locks(std::string_view mounts, uint32_t major, uint32_t minor) {
  const std::string device = std::to_string(major) + ":" + std::to_string(minor);
  while (!mounts.empty()) {
    std::string_view line = next_word(mounts, '\n');
    const std::string_view whole = line;
    (void)next_word(line, ' ');  // the number of the mount
    (void)next_word(line, ' ');  // and that of the one it lies in
    if (next_word(line, ' ') != device) continue;
    // Behind " - ": the kind of file system, its source, its options.
    const size_t dash = whole.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view rest = whole.substr(dash + 3);
    (void)next_word(rest, ' ');
    (void)next_word(rest, ' ');
    return keeps_locks_here(rest);
  }
  return false;
}

FileSystem file_system_of(int fd) {
  struct statfs facts {};
  if (::fstatfs(fd, &facts) != 0) return {};
  const auto magic = static_cast<uint64_t>(facts.f_type);
  FileSystem found{.storage = storage_of(magic), .in_memory = magic == TMPFS_MAGIC || magic == RAMFS_MAGIC};
  struct stat status {};
  if (found.storage != Storage::nfs || ::fstat(fd, &status) != 0) return found;
  found.local_locks = has_local_locks(mounts_of_process(), major(status.st_dev), minor(status.st_dev));
  return found;
}

}  // namespace weft::io
