// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Independent access: one rank's data between its memory and the file, through a view. Blocks the calling thread, and
// touches neither messages nor requests, so that any thread may do it.

#include "io/disk.hpp"
#include "io/memory.hpp"
#include "io/result.hpp"
#include "io/view.hpp"

namespace weft::io {

// How runs with gaps between them are moved.
struct Sieving {
  bool reads = true;         // runs close to each other are read together with their gaps
  bool writes = false;       // such runs are read, changed and written as a whole, under a lock
  int64_t gap = 8192;        // bytes between runs, at most
  int64_t buffer = 4 << 20;  // bytes moved at once
  int64_t write_buffer = 512 << 10;
};

struct FileTransfer {
  Disk disk;
  View view;
  int64_t position;  // in the view's stream
  Memory memory;
  Sieving sieving;
  bool locks = false;  // alone in the file's bytes from its first to its last, against all other accesses that lock
};

// `done`: bytes of the stream that were moved: of a read less than asked only at the end of the file, or with an error.
[[nodiscard]] Result write(const FileTransfer& transfer, int64_t& done);
[[nodiscard]] Result read(const FileTransfer& transfer, int64_t& done);

}  // namespace weft::io
