// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace weft::abi {

// The file a program's name means: a path as it is (from `folder` when that is given), else looked for in PATH. Empty,
// with errno set, when there is none that can be executed.
[[nodiscard]] std::string find_program(const std::string& name, const std::string& folder);

// As find_program(), but a path that is relative to `folder` is made one from the current folder.
[[nodiscard]] std::string file_of_program(const std::string& name, const std::string& folder);

}  // namespace weft::abi
