// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/mpiexec_settings.hpp"

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

constinit base::IntSetting why_after{
    {.name = "WEFT_WHY_AFTER",
     .help = "mpiexec says, once, why a job stands still for ever that has written nothing for so long; 0: never",
     .unit = base::Unit::seconds,
     .subject = base::Subject::waiting},
    60,
    {0, 1000000}};
WEFT_SETTING(why_after);

}  // namespace

std::string remote_launcher() {
  return launcher_setting.value();
}

std::string remote_shell() {
  return shell_setting.value();
}

uint64_t hang_report_seconds() {
  return static_cast<uint64_t>(why_after.value());
}

}  // namespace weft::boot
