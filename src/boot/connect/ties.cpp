// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/connect/ties.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "boot/job/notes.hpp"
#include "boot/job/status.hpp"

namespace weft::boot {
namespace {

constexpr size_t word_bits = 64;
constexpr size_t page_bytes = 4096;

off_t word_at(int places, int place, size_t word) {
  return static_cast<off_t>(ties_offset(places) + static_cast<size_t>(place) * ties_row_bytes(places) +
                            word * sizeof(uint64_t));
}

constexpr uint32_t unused = UINT32_MAX;  // a place that no process had yet

// A number for the world of each place.
std::vector<uint32_t> read_worlds(int fd, int places, int started) {
  std::vector<uint32_t> worlds(static_cast<size_t>(places), unused);
  std::fill(worlds.begin(), worlds.begin() + started, 0);
  std::vector<char> lines(static_cast<size_t>(places) * sizeof(RankStatus));
  if (pread(fd, lines.data(), lines.size(), 0) != static_cast<ssize_t>(lines.size())) return worlds;
  for (auto place = static_cast<size_t>(started); place < worlds.size(); ++place) {
    uint32_t world = 0;
    __builtin_memcpy(&world, &lines[place * sizeof(RankStatus) + offsetof(RankStatus, world)], sizeof world);
    if (world != 0) worlds[place] = world;
  }
  return worlds;
}

}  // namespace

bool Ties::change(int place, int other, bool tied) const {
  const off_t at = word_at(places_, place, static_cast<size_t>(other) / word_bits);
  const uint64_t bit = uint64_t{1} << (static_cast<size_t>(other) % word_bits);
  uint64_t before = 0;
  const int fd = segment_.needed();
  if (pread(fd, &before, sizeof before, at) != sizeof before) return false;
  if (((before & bit) != 0) == tied) return true;
  // Memory is reserved before it is touched.
  if (const int error = posix_fallocate(fd, at, sizeof before); error != 0) {
    errno = error;
    return false;
  }
  const off_t page = at & ~static_cast<off_t>(page_bytes - 1);
  void* const mapped = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, page);
  if (mapped == MAP_FAILED) return false;
  std::atomic_ref<uint64_t> word(*reinterpret_cast<uint64_t*>(static_cast<char*>(mapped) + (at - page)));
  if (tied) {
    word.fetch_or(bit);
  } else {
    word.fetch_and(~bit);
  }
  munmap(mapped, page_bytes);
  return true;
}

bool Ties::tie(int place, int other) const {
  return change(place, other, true);
}

bool Ties::cut(int place, int other) const {
  return change(place, other, false) && change(other, place, false);
}

bool Ties::clear(int place) const {
  const std::vector<char> row(ties_row_bytes(places_));
  return pwrite(segment_.needed(), row.data(), row.size(), word_at(places_, place, 0)) ==
         static_cast<ssize_t>(row.size());
}

std::vector<int> Ties::connected_with(int place) const {
  const size_t words = ties_row_bytes(places_) / sizeof(uint64_t);
  const auto count = static_cast<size_t>(places_);
  std::vector<uint64_t> rows(count * words);
  const size_t bytes = rows.size() * sizeof(uint64_t);
  // A segment that no rank has sized yet has no ties.
  const int fd = segment_.needed();
  if (pread(fd, rows.data(), bytes, word_at(places_, 0, 0)) != static_cast<ssize_t>(bytes)) rows.assign(rows.size(), 0);
  const std::vector<uint32_t> worlds = read_worlds(fd, places_, started_);
  const auto tied = [&](size_t a, size_t b) { return (rows[a * words + b / word_bits] >> (b % word_bits) & 1) != 0; };
  std::vector<bool> seen(count);
  std::vector<size_t> open{static_cast<size_t>(place)};
  seen[open.front()] = true;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    for (size_t other = 0; other < count; ++other) {
      if (seen[other] || (worlds[at] != worlds[other] && !tied(at, other) && !tied(other, at))) continue;
      seen[other] = true;
      open.push_back(other);
    }
  }
  std::vector<int> found;
  for (size_t other = 0; other < count; ++other) {
    if (seen[other]) found.push_back(static_cast<int>(other));
  }
  return found;
}

}  // namespace weft::boot
