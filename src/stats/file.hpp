// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The file of counters: made by mpiexec or by a rank that has none, found by tools.

#include <string>

#include "stats/area.hpp"

namespace weft::stats {

// A new, empty file, mode 0600; -1 and errno when there is none.
[[nodiscard]] int create_file();

// Whether a descriptor is such a file.
[[nodiscard]] bool is_file(int fd);

// The file of another process of this host, read-only; -1 and errno: ENOENT when it has none.
[[nodiscard]] int open_file_of(int pid);

// Leaves the report for people to mpiexec, behind the areas of all ranks of its file: mpiexec knows the lines of call
// sites, for which it starts a program. False: there is no space.
[[nodiscard]] bool leave_text(int fd, Area& own, const std::string& text);

// The areas of a file as a reader sees them, one at a time and as copies. A copy does not change while it is looked at,
// and making it takes no memory for pages that were never written.
class AreaFileReader {
 public:
  explicit AreaFileReader(int fd);
  ~AreaFileReader();
  AreaFileReader(const AreaFileReader&) = delete;
  AreaFileReader& operator=(const AreaFileReader&) = delete;

  // Places in the file; 0 when nobody has begun, or it is no file of this build.
  [[nodiscard]] int count() const { return count_; }
  // A copy of an area until the next call; nullptr when no rank has begun there, or there is no memory.
  [[nodiscard]] const Area* area(int place);
  // The report for people that a rank has left behind the areas; empty: none has.
  [[nodiscard]] std::string text();

 private:
  int fd_;
  size_t stride_ = 0;
  int count_ = 0;
  void* copy_ = nullptr;
};

}  // namespace weft::stats
