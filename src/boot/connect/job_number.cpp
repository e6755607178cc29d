// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/connect/job_number.hpp"

#include <unistd.h>

#include "base/hex.hpp"
#include "base/setting.hpp"
#include "boot/connect/fd_passing.hpp"

namespace weft::boot {
namespace {

std::string prefix() {
  return "weft job of user " + std::to_string(geteuid()) + ": ";
}

}  // namespace

std::string socket_of_job(int number) {
  return base::to_hex(prefix() + std::to_string(number));
}

int number_of_socket(const std::string& name) {
  std::string bytes;
  int64_t number = 0;
  const std::string begin = prefix();
  if (!base::from_hex(name, bytes) || !bytes.starts_with(begin)) return 0;
  if (!base::parse_number(bytes.substr(begin.size()), base::Unit::none, number).empty()) return 0;
  return number > 0 && number < job_numbers ? static_cast<int>(number) : 0;
}

void open_job_socket(ListeningSocket& socket, int begin) {
  for (int i = 0; i < job_numbers - 1; ++i) {
    const int number =
        1 + static_cast<int>((static_cast<unsigned>(begin) + static_cast<unsigned>(i)) % (job_numbers - 1));
    if (socket.open_as(socket_of_job(number))) return;
  }
  socket.open();
}

}  // namespace weft::boot
