// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The check of data between hosts, behind the checksums of IP and TCP, which adapters make and switches make anew: a
// broken one changes data that both find valid. A sender that makes none says 0, so each may decide by itself.

#include <cstddef>
#include <cstdint>

namespace weft::transport::net {

// Whether this process makes one for so many bytes (WEFT_CHECK_DATA).
bool checks_data(size_t bytes);
// Whether it does so for all, so that no data may go by a way that has none.
bool checks_all_data();

// Never 0.
[[nodiscard]] uint32_t check_of(const void* data, size_t bytes);

// Whether data fit the check that came with them, if one did.
[[nodiscard]] inline bool fits(uint32_t check, const void* data, size_t bytes) {
  return check == 0 || check == check_of(data, bytes);
}

}  // namespace weft::transport::net
