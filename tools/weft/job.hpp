// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Jobs that subcommands start to measure something.

#include <string>

#include "base/message.hpp"
#include "weft/commands.hpp"

namespace weft::tool {

// Our own folder: mpiexec is beside us, and what it starts in libexec beside that.
[[nodiscard]] std::string own_folder();

// The words between commas.
[[nodiscard]] std::vector<std::string> parts_of(const std::string& text);

// Runs a command and takes its output. False: it cannot be started, or fails, with this exit status.
[[nodiscard]] bool run(const Words& words, std::string& output, base::Problem& problem, int* exit_status = nullptr);

}  // namespace weft::tool
