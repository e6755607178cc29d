// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/api/memory.hpp"

#include "base/setting.hpp"

namespace weft::transport {
namespace {

constinit base::BoolSetting minimum_setting{
    {.name = "WEFT_MINIMUM_MEMORY",
     .help = "small rings and pools: many ranks on a host take little memory, and messages may take longer",
     .level = base::Level::basic,
     .subject = base::Subject::memory,
     .change = base::Change::before_start,
     .alike = true},
    false};
WEFT_SETTING(minimum_setting);

}  // namespace

bool minimum_memory() {
  return minimum_setting.value();
}

}  // namespace weft::transport
