// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What MPI_Error_string says, for the programs about it.

#include <cstring>
#include <initializer_list>
#include <string>

#include "expect.hpp"

namespace error_texts {

inline std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1];
  memset(text, '#', sizeof text);
  int length = -1;
  MPI_Error_string(code, text, &length);
  EXPECT(length >= 0 && length < MPI_MAX_ERROR_STRING && strnlen(text, sizeof text) == static_cast<size_t>(length),
         "%d bytes of %d", static_cast<int>(strnlen(text, sizeof text)), length);
  return text;
}

inline bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// The code is the class itself, and its text has all of the words.
inline void expect(int line, int code, int wanted, std::initializer_list<std::string> words) {
  EXPECT(code == wanted, "line %d: code %d, not %d", line, code, wanted);
  const std::string text = text_of(code);
  for (const std::string& word : words)
    EXPECT(has(text, word), "line %d: no \"%s\" in \"%s\"", line, word.c_str(), text.c_str());
}

}  // namespace error_texts

#define EXPECT_TEXT(call, wanted, ...) error_texts::expect(__LINE__, call, wanted, {__VA_ARGS__})
