// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Independent access in the background: a worker does what the blocking call would do. A small read in one piece is
// done at once where the page cache has its bytes or the file lies in memory; otherwise the kernel reads by itself
// (ring.hpp).

#include "core/object/request.hpp"
#include "io/file.hpp"
#include "io/ring.hpp"

namespace weft::io {

// Lives as long as its request, whose owner it is.
class FileOperation final : public PieceJob {
 public:
  FileOperation(File& file, core::Request& request, bool writes, int64_t position, const Memory& memory);
  ~FileOperation() override = default;
  // The request may be over, and this object gone, when it returns.
  void start();
  void run() override;
  void read() override;

  [[nodiscard]] const Result& result() const { return result_; }
  // The path of the file. It is kept for a failure, when the file may have been closed.
  [[nodiscard]] const std::string& path() const { return path_; }
  Type* filetype() const { return view_.filetype; }
  Type* memory_type() const { return memory_.type; }

 private:
  [[nodiscard]] bool is_small_piece();
  void end_whole();
  void end();

  File& file_;
  core::Request& request_;
  const bool writes_;
  const View view_;  // as it was when the access began
  const int64_t position_;
  const Memory memory_;
  Result result_;
  std::string path_;
  uint64_t began_ns_ = 0;
};

}  // namespace weft::io
