// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// When memory of other hosts is read and written directly (RDMA), as the settings say.

#include <cstdint>

namespace weft::transport::net {

// Whether to do so where a provider offers it: `hardware` when adapters do it, otherwise it is emulated.
bool read_by(bool hardware);

// WEFT_RDMA=off, which explains what read_by() says.
bool reading_is_off();

// The smallest message, in bytes; where no setting says it, what the carrier thinks.
int64_t read_from(int64_t of_carrier);
inline constexpr int64_t adapters_read_from = 128 << 10;
inline constexpr int64_t tcp_reads_from = 32 << 10;

}  // namespace weft::transport::net
