// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Independent access in the background: a worker does what the blocking call would do.

#include "core/request.hpp"
#include "io/file.hpp"
#include "io/worker.hpp"

namespace weft::io {

// Lives as long as its request, whose owner it is.
class Operation final : public Job {
 public:
  Operation(File& file, core::Request& request, bool writes, int64_t position, const Memory& memory);
  ~Operation() override = default;
  void run() override;

  [[nodiscard]] const Result& result() const { return result_; }
  // Of the file, after a failure: the file may have been closed.
  [[nodiscard]] const std::string& path() const { return path_; }
  Type* filetype() const { return view_.filetype; }
  Type* memory_type() const { return memory_.type; }

 private:
  File& file_;
  core::Request& request_;
  const bool writes_;
  const View view_;  // as it was when the access began
  const int64_t position_;
  const Memory memory_;
  Result result_;
  std::string path_;
};

}  // namespace weft::io
