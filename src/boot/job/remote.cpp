// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/remote.hpp"

#include "base/setting.hpp"

namespace weft::boot {
namespace {

constinit base::TextSetting launcher_setting{
    {.name = "WEFT_REMOTE_LAUNCHER",
     .help = "the launcher by which mpiexec starts ranks on other hosts: mpiexec.hydra or prterun, a name or a path; "
             "empty: the first of them in PATH",
     .subject = base::Subject::start}};
WEFT_SETTING(launcher_setting);

constinit base::TextSetting shell_setting{
    {.name = "WEFT_RSH",
     .help = "the program by which mpiexec reaches other hosts, called as ssh is; empty: the launcher's default",
     .subject = base::Subject::start}};
WEFT_SETTING(shell_setting);

}  // namespace

std::string remote_launcher() {
  return launcher_setting.value();
}

std::string remote_shell() {
  return shell_setting.value();
}

}  // namespace weft::boot
