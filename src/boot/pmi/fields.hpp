// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The "key=value" fields of a PMI message. They come from a socket, so everything has a bound.

#include <cstddef>
#include <string_view>

namespace weft::boot {

class PmiFields {
 public:
  static constexpr size_t longest = 8192;  // a message; the longest value seen of any server is 4096
  static constexpr int most_fields = 64;

  // The value of a field, empty when there is none; of fields named twice the first.
  std::string_view value(std::string_view key) const;
  bool has(std::string_view key) const;
  // The value as a whole number from `low` to `high`, else `fallback`.
  int number(std::string_view key, int low, int high, int fallback) const;

 protected:
  void clear() { count_ = 0; }
  // Takes one word; a word that is no "key=value" is passed over. False: there are too many.
  [[nodiscard]] bool add(std::string_view word);

 private:
  struct Field {
    std::string_view key, value;
  };
  const Field* find(std::string_view key) const;
  Field fields_[most_fields];
  int count_ = 0;
};

}  // namespace weft::boot
