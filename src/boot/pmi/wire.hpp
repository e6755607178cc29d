// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The connection to a launcher that speaks PMI: text is written whole; input is read into a buffer, from which its
// reader takes whole messages.

#include <cstddef>
#include <string_view>

#include "base/descriptor.hpp"

namespace weft::boot {

class Wire {
 public:
  static constexpr size_t longest = 8192 + 6;  // the longest message with its framing
  enum class ReceiveResult : unsigned char { more, nothing, failed };

  void open(int fd) { line_ = {fd, "the launcher"}; }
  bool is_open() const { return line_.is_open(); }
  int descriptor() const { return line_.unchecked(); }
  void close();
  // The launcher sees the end of the connection; the descriptor stays until close(). May be called in any thread.
  void hang_up();

  // False, and ReceiveResult::failed: cause() and error() say why.
  [[nodiscard]] bool send(std::string_view text);
  // Reads the available input; without `wait` perhaps nothing. The buffer must not be full.
  [[nodiscard]] ReceiveResult read(bool wait);

  std::string_view text() const { return {buffer_, filled_}; }  // input that was not taken yet
  bool full() const { return filled_ == longest; }
  void take(size_t count);

  const char* cause() const { return cause_; }
  int error() const { return error_; }

 private:
  // Whether the program has left the connection alone; false: cause() and error() say it.
  [[nodiscard]] bool find(int& fd);

  base::Descriptor line_;
  size_t filled_ = 0;
  const char* cause_ = "";
  int error_ = 0;
  char buffer_[longest];
};

}  // namespace weft::boot
