// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/quiet.hpp"

#include "base/setting.hpp"

namespace weft::boot {
namespace {

constinit base::IntSetting why_after{
    {.name = "WEFT_WHY_AFTER",
     .help = "mpiexec says, once, why a job stands still for ever that has written nothing for so long; 0: never",
     .unit = base::Unit::seconds,
     .subject = base::Subject::waiting},
    60,
    {0, 1000000}};
WEFT_SETTING(why_after);

}  // namespace

uint64_t quiet_seconds() {
  return static_cast<uint64_t>(why_after.value());
}

}  // namespace weft::boot
