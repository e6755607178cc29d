// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The library that carries messages to other hosts.

#include <string>

#include "base/setting.hpp"
#include "transport/select/hosts.hpp"
#include "weft/doctor.hpp"

namespace weft::tool {
namespace {

namespace net = transport::net;

}  // namespace

void look_at_carrier(Findings& findings) {
  constexpr const char* names[] = {"TCP", "libfabric", "UCX"};
  base::load_known_settings();
  const net::LibraryChoice choice = net::choose_library();
  const bool failed = choice.why.find("cannot be loaded") != std::string::npos;
  const std::string state = std::string(names[static_cast<int>(choice.by)]) + ": " + choice.why;
  findings.push_back({failed ? Grade::bad : Grade::good, "messages between hosts", state,
                      failed ? "the adapter is not used, or not well: install the library (Debian: apt-get install "
                               "libucx0 libfabric1); weft info net lists the providers"
                             : ""});
}

}  // namespace weft::tool
