// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace weft::why {

// Runs a command, which is looked for in PATH, for five seconds at most, and returns its standard output, up to `most`
// bytes. Its standard error is dropped. Empty: it cannot be started, or says nothing.
[[nodiscard]] std::string output_of(const std::vector<std::string>& words, size_t most);

}  // namespace weft::why
