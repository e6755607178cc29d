// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/operation.hpp"

#include "base/clock.hpp"

namespace weft::io {

FileOperation::FileOperation(File& file, core::Request& request, bool writes, int64_t position, const Memory& memory)
    : file_(file), request_(request), writes_(writes), view_(file.view), position_(position), memory_(memory) {
  file.pending.fetch_add(1, std::memory_order_relaxed);
}

void FileOperation::start() {
  if (is_small_piece()) {
    if (file_.in_memory) return run();
    if (read_cached(file_.disk(), piece_.data, piece_.bytes, piece_.offset)) return end_whole();
    if (file_.tally != nullptr) began_ns_ = base::now_ns();
    if (submit(*this)) return;
  }
  post(*this);
}

// A small read in one piece, of the file and of memory: sets the piece.
bool FileOperation::is_small_piece() {
  const int64_t bytes = memory_.bytes();
  if (writes_ || bytes == 0 || bytes > largest_piece || !memory_.is_contiguous()) return false;
  if (!file_.regular || file_.locks() || file_.direct.moves(false)) return false;
  Run run{};
  int64_t covered = 0;
  if (view_.list(position_, bytes, &run, 1, covered) != 1 || covered != bytes) return false;
  piece_ = {file_.fd(), memory_.at(0), bytes, run.offset};
  return true;
}

void FileOperation::read() {
  if (file_.tally != nullptr) file_.tally->call(false, piece_.offset, piece_.bytes, base::now_ns() - began_ns_);
  end_whole();
}

void FileOperation::end_whole() {
  count_access(file_, false, view_, position_, piece_.bytes, false, false);
  request_.received = piece_.bytes;
  end();
}

void FileOperation::run() {
  int64_t done = 0;
  result_ = access_at(file_, writes_, view_, position_, memory_, done);
  request_.received = done;
  request_.error = result_.error;
  if (result_.failed()) path_ = file_.path;
  end();
}

void FileOperation::end() {
  file_.pending.fetch_sub(1, std::memory_order_release);
  complete_from_worker(request_);
}

}  // namespace weft::io
