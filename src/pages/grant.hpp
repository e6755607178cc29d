// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory as a program asks for it, and as it got it.

#include <cstddef>
#include <string>

namespace weft::pages {

struct Wish {
  size_t alignment = 1;  // a power of two; memory begins at a page in any case
};

struct Grant {
  void* memory = nullptr;  // nullptr: there is none, and `problem` says why
  std::string problem;     // for people, with the remedy
};

}  // namespace weft::pages
