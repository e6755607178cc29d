// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/format.hpp"

#include <cstdarg>
#include <cstdio>

namespace weft::base {
namespace {

[[gnu::format(printf, 2, 0)]] void append_all(std::string& text, const char* form, va_list values) {
  va_list again;
  va_copy(again, values);
  const int length = vsnprintf(nullptr, 0, form, values);
  if (length > 0) {
    const size_t before = text.size();
    text.resize(before + static_cast<size_t>(length));
    vsnprintf(text.data() + before, static_cast<size_t>(length) + 1, form, again);  // the 0 at its end is the string's
  }
  va_end(again);
}

}  // namespace

std::string format(const char* form, ...) {
  std::string text;
  va_list values;
  va_start(values, form);
  append_all(text, form, values);
  va_end(values);
  return text;
}

void append(std::string& text, const char* form, ...) {
  va_list values;
  va_start(values, form);
  append_all(text, form, values);
  va_end(values);
}

}  // namespace weft::base
