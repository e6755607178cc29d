// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The files that glibc's cache of libraries (/etc/ld.so.cache) holds under a name, in its order.

#include <string>
#include <string_view>
#include <vector>

namespace weft::abi {

class LibraryCache {
 public:
  LibraryCache();                                                      // of this system; without a cache it is empty
  explicit LibraryCache(std::string file) : file_(std::move(file)) {}  // of this content
  [[nodiscard]] std::vector<std::string> files_of(std::string_view name) const;

 private:
  std::string file_;
};

}  // namespace weft::abi
