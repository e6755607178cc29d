// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/api/memory.hpp"

#include "base/setting.hpp"

namespace weft::transport {
namespace {

constexpr const char* degrees[] = {"off", "on", "host"};
enum Degree : int { off, of_ranks, of_hosts };
constinit base::ChoiceSetting minimum_setting{{.name = "WEFT_MINIMUM_MEMORY",
                                               .help = "small rings and pools: many ranks on a host take little "
                                                       "memory, and messages may take longer; host: they share "
                                                       "an endpoint of libfabric too",
                                               .level = base::SettingLevel::basic,
                                               .subject = base::Subject::memory,
                                               .change = base::Change::before_start,
                                               .alike = true},
                                              off,
                                              degrees,
                                              3};
WEFT_SETTING(minimum_setting);

}  // namespace

bool minimum_memory() {
  return minimum_setting.value() != off;
}

bool shares_endpoints() {
  return minimum_setting.value() == of_hosts;
}

}  // namespace weft::transport
