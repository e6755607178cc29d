// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Text in HTML and SVG.

#include <string>

namespace weft::tool {

// Text of unknown origin, as it may stand in an element or in an attribute; at most so many bytes of it.
[[nodiscard]] std::string as_markup(const std::string& text, size_t most = 300);

}  // namespace weft::tool
