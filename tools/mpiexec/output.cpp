// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/output.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/clock.hpp"

namespace weft::mpiexec {

Sink::Sink(int fd) : fd_(fd) {
  struct stat s;
  plain_file_ = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
}

void Sink::append(int source, std::string_view text, bool continues) {
  if (broken() || text.empty()) return;
  if (!at_line_start_ && !continues) pending_ += '\n';
  pending_ += text;
  last_source_ = source;
  at_line_start_ = text.back() == '\n';
}

bool Sink::ready(int timeout_ms) const {
  pollfd p{fd_, POLLOUT, 0};
  return poll(&p, 1, timeout_ms) > 0;
}

// The descriptor is shared with others (the shell, the terminal), so it is not made non-blocking. A write of PIPE_BUF
// bytes to a pipe that polls writable does not block.
void Sink::write_some() {
  size_t chunk = plain_file_ ? size_t{1} << 20 : size_t{PIPE_BUF};
  while (wants_to_write() && !broken() && ready(0)) {
    ssize_t n = write(fd_, pending_.data() + written_, std::min(chunk, pending_.size() - written_));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (n < 0)
      error_ = errno;
    else
      written_ += static_cast<size_t>(n);
  }
  if (broken() || !wants_to_write()) {
    pending_.clear();
    written_ = 0;
  } else if (written_ > high_water) {
    pending_.erase(0, written_);
    written_ = 0;
  }
}

void Sink::drain(uint64_t until_ns) {
  for (;;) {
    write_some();
    uint64_t now = base::now_ns();
    if (!wants_to_write() || now >= until_ns) return;
    ready(static_cast<int>((until_ns - now) / 1'000'000) + 1);
  }
}

void LineStream::emit(std::string_view text) {
  const bool continues = mid_line_ && sink_->holds_line_of(source_);
  // Another source has written since, so the newline of that line is there already.
  if (mid_line_ && !continues && text.starts_with('\n')) text.remove_prefix(1);
  if (text.empty()) {
    mid_line_ = mid_line_ && continues;
    return;
  }
  std::string tagged;
  std::string_view rest = tag_.empty() ? "" : text;
  bool needs_tag = !continues;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const size_t length = end == std::string_view::npos ? rest.size() : end + 1;
    if (needs_tag) tagged += tag_;
    tagged += rest.substr(0, length);
    needs_tag = true;
    rest.remove_prefix(length);
  }
  sink_->append(source_, tag_.empty() ? text : tagged, continues);
  mid_line_ = text.back() != '\n';
}

void LineStream::take(std::string_view bytes, uint64_t now_ns) {
  buffer_cut_ = bytes.size() % stdio_buffer == 0;
  size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) {
    if (partial_.empty())
      emit(bytes.substr(0, end + 1));
    else {
      partial_ += bytes.substr(0, end + 1);
      emit(partial_);
      partial_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
  if (bytes.empty()) return;
  if (partial_.empty()) since_ns_ = now_ns;
  partial_ += bytes;
  if (partial_.size() > longest_line) flush();
}

void LineStream::flush() {
  if (!partial_.empty()) emit(partial_);
  partial_.clear();
}

}  // namespace weft::mpiexec
