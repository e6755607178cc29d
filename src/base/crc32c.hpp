// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// CRC32C (the polynomial of Castagnoli, as in iSCSI: RFC 3720), by the processor's instruction where it has one.

#include <cstddef>
#include <cstdint>

namespace weft::base {

// The sum of `bytes` at `data`. Thread-safe.
[[nodiscard]] uint32_t crc32c(const void* data, size_t bytes);

// That sum without the instruction.
[[nodiscard]] uint32_t crc32c_by_table(const void* data, size_t bytes);

}  // namespace weft::base
