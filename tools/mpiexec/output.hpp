// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ranks' output, passed on in whole lines. A Sink is mpiexec's own stdout or stderr; a LineStream is one rank's
// stream towards it. Neither blocks: a Sink keeps data that it cannot write yet, and reports when it has enough.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::mpiexec {

class Sink {
 public:
  explicit Sink(int fd);
  int fd() const { return fd_; }
  bool wants_to_write() const { return written_ < pending_.size(); }
  bool full() const { return pending_.size() - written_ > high_water; }
  bool broken() const { return error_ != 0; }  // nothing will be written any more
  int error() const { return error_; }         // the errno of the write that failed: EPIPE when the reader is gone
  // Whether the last line is an unfinished one of `source`.
  bool holds_line_of(int source) const { return !at_line_start_ && last_source_ == source; }

  // Text of `source`. An unfinished line gets its newline first, unless the text continues it.
  void append(int source, std::string_view text, bool continues = false);
  // Writes what can be written now without waiting.
  void write_some();
  // Writes all, waiting for the reader, but not longer than this.
  void drain(uint64_t until_ns);

 private:
  static constexpr size_t high_water = 256 << 10;
  bool ready(int timeout_ms) const;

  int fd_;
  bool plain_file_;
  int error_ = 0;
  int last_source_ = -1;
  bool at_line_start_ = true;
  std::string pending_;
  size_t written_ = 0;  // of pending_
};

class LineStream {
 public:
  LineStream() = default;
  LineStream(int source, std::string tag, Sink* sink) : source_(source), tag_(std::move(tag)), sink_(sink) {}

  // Bytes as they were read. Whole lines go to the sink, the rest waits.
  void take(std::string_view bytes, uint64_t now_ns);
  // The unfinished line too, when it has waited long enough or the stream has ended.
  void flush();
  bool holds_partial() const { return !partial_.empty(); }
  uint64_t flush_due() const { return since_ns_ + (buffer_cut_ ? long_patience_ns : patience_ns); }
  Sink& sink() const { return *sink_; }

  // How long an unfinished line waits (it may be a prompt). One that was cut where a full stdio buffer ends is no
  // prompt: the rest comes with the next buffer, perhaps after a long computation.
  static constexpr uint64_t patience_ns = 100'000'000;
  static constexpr uint64_t long_patience_ns = 10'000'000'000;
  static constexpr size_t stdio_buffer = 4096;
  static constexpr size_t longest_line = 64 << 10;

 private:
  void emit(std::string_view text);

  int source_ = 0;
  std::string tag_;
  Sink* sink_ = nullptr;
  std::string partial_;
  uint64_t since_ns_ = 0;
  bool buffer_cut_ = false;
  bool mid_line_ = false;  // the beginning of the current line is written already
};

}  // namespace weft::mpiexec
