// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weft::abi {
namespace {

// The format that glibc 2.2 and later write, alone or behind the older one. Places of texts count from its magic.
constexpr std::string_view cache_magic = "glibc-ld.so.cache1.1";
constexpr size_t largest_cache = 64 << 20;

struct CacheHead {
  char magic[20];
  uint32_t entries;
  uint32_t bytes_of_texts;
  uint32_t unused[5];
};
struct CacheEntry {
  int32_t flags;
  uint32_t name, file;  // places of texts
  uint32_t version;
  uint64_t capabilities;
};
static_assert(sizeof(CacheHead) == 48 && sizeof(CacheEntry) == 24);

std::string_view cache_text(std::string_view cache, uint32_t at) {
  const size_t end = at < cache.size() ? cache.find('\0', at) : std::string_view::npos;
  return end == std::string_view::npos ? std::string_view() : cache.substr(at, end - at);
}

}  // namespace

LibraryCache::LibraryCache() {
  const int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char part[65536];
  for (ssize_t got = 0; file_.size() < largest_cache && (got = read(fd, part, sizeof part)) > 0;)
    file_.append(part, static_cast<size_t>(got));
  close(fd);
}

std::vector<std::string> LibraryCache::files_of(std::string_view name) const {
  std::vector<std::string> files;
  const size_t begin = file_.find(cache_magic);
  if (begin == std::string::npos || file_.size() - begin < sizeof(CacheHead)) return files;
  const std::string_view cache = std::string_view(file_).substr(begin);
  CacheHead head;
  std::memcpy(&head, cache.data(), sizeof head);
  const size_t entries = std::min<size_t>(head.entries, (cache.size() - sizeof head) / sizeof(CacheEntry));
  for (size_t i = 0; i < entries; ++i) {
    CacheEntry entry;
    std::memcpy(&entry, cache.data() + sizeof head + i * sizeof entry, sizeof entry);
    if (cache_text(cache, entry.name) == name) files.emplace_back(cache_text(cache, entry.file));
  }
  return files;
}

}  // namespace weft::abi
