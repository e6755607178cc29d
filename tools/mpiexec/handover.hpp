// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Jobs on other hosts: mpiexec hands them to a launcher that is at home there, Hydra or PRRTE's prterun, in its words.

#include <string>
#include <vector>

#include "mpiexec/command.hpp"

namespace weft::mpiexec {

enum class Remote { hydra, prterun };

struct RemoteLauncher {
  Remote kind = Remote::hydra;
  std::string path;
  std::string hosts_file;  // for Hydra: a file of "host:ranks"
  std::string shell;       // what reaches the hosts in place of ssh; empty: the launcher's choice
};

// The launcher by the name or the path `wanted`, or when that is empty the first in PATH. Empty: found, otherwise why
// not.
[[nodiscard]] std::string find_remote_launcher(const std::string& wanted, RemoteLauncher& launcher);

// The launcher's command line for the job. `command.hosts` have been spread; `inherited` are the names of our
// environment's variables.
[[nodiscard]] std::vector<std::string> translate(const Command& command, const RemoteLauncher& launcher,
                                                 const std::vector<std::string>& inherited);

// Runs the job; the result is mpiexec's exit status: the launcher's, but 124 after --timeout.
[[nodiscard]] int hand_over(const Command& command);

}  // namespace weft::mpiexec
