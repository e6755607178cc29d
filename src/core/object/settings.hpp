// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Thresholds between the paths, as the settings in force give them. The rows stand in the files of the paths.

#include <cstdint>

namespace weft::transport {
class Transport;
}

namespace weft::core {

int64_t mailbox_bytes(int64_t ranks);  // E0 up to here
int64_t buffer_bytes();                // E1 up to here, on one host
int64_t buffer_bytes(const transport::Transport& way);
int64_t get_bytes();  // R0 from private memory up to here
bool rendezvous_on();

}  // namespace weft::core
