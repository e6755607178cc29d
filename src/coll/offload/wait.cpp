// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/offload/wait.hpp"

#include "base/setting.hpp"

namespace weft::coll::offload {

namespace {

constinit base::IntSetting seconds{
    {.name = "WEFT_OFFLOAD_SECONDS",
     .help = "how long a rank waits in an operation that a library does for WEFT_OFFLOAD, and for a communicator to be "
             "made there; the operation is then done by messages, and so are all others of the communicator",
     .unit = base::Unit::seconds,
     .subject = base::Subject::start,
     .alike = true},
    60,
    {0, 86400}};
WEFT_SETTING(seconds);

}  // namespace

uint64_t patience_ns() {
  return static_cast<uint64_t>(seconds.value()) * 1000000000;
}

std::string not_all_came() {
  return "not all ranks came in " + std::to_string(seconds.value()) + " s, as WEFT_OFFLOAD_SECONDS says";
}

}  // namespace weft::coll::offload
