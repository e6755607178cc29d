// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A rank's request to the launcher, or its answer: a list of texts and numbers. It travels over a local socket with its
// length in front; each field has its length in front too, and is checked when it is read.

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::boot {

class Packet {
 public:
  static constexpr uint32_t most_bytes = 16 << 20;  // arguments and environments

  Packet() = default;
  explicit Packet(std::string bytes) : bytes_(std::move(bytes)) {}

  Packet& put(std::string_view text);
  Packet& put(int64_t number);

  // The next field; an empty text or 0 when there is none, or it is no number between `low` and `high`: then it is bad
  // from here on.
  std::string take_text();
  int64_t take_number(int64_t low, int64_t high);
  [[nodiscard]] bool is_bad() const { return bad_; }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  // Returns the packet as it travels.
  [[nodiscard]] std::string framed() const;
  // Takes a whole packet off the front of what was received. False: there is none yet, or, with `bad`, never will be.
  [[nodiscard]] static bool unframe(std::string& received, Packet& packet, bool& bad);

 private:
  std::string bytes_;
  size_t at_ = 0;
  bool bad_ = false;
};

}  // namespace weft::boot
