// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// snprintf for strings of any length.

#include <string>

namespace weft::base {

[[nodiscard, gnu::format(printf, 1, 2)]] std::string format(const char* form, ...);
// Appends to `text` what format() returns.
[[gnu::format(printf, 2, 3)]] void append(std::string& text, const char* form, ...);

}  // namespace weft::base
