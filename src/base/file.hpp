// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace weft::base {

// Appends all of a file to `text`. Returns 0, or an errno: EFBIG when the text has more than `most` bytes then.
[[nodiscard]] int read_file(const std::string& path, std::string& text, size_t most);

}  // namespace weft::base
