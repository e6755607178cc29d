// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A line of the PMI-1 protocol: "cmd=get_result rc=0 value=abc". It comes from a socket, so everything has a bound.

#include <string_view>

namespace weft::boot {

class PmiLine {
 public:
  static constexpr size_t longest = 8192;  // the longest value seen of any server is 4096
  static constexpr int most_fields = 64;

  // Splits `line` (without its newline), which must outlive this. False: not a line of this protocol.
  [[nodiscard]] bool parse(std::string_view line);

  // The value of a field, empty when there is none; of fields named twice the first.
  std::string_view value(std::string_view key) const;
  bool has(std::string_view key) const;
  // The value as a whole number from `low` to `high`, else `fallback`.
  int number(std::string_view key, int low, int high, int fallback) const;

 private:
  struct Field {
    std::string_view key, value;
  };
  const Field* find(std::string_view key) const;
  Field fields_[most_fields];
  int count_ = 0;
};

}  // namespace weft::boot
