// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace weft::transport {

// Whether transports shall take as little memory as they run with (WEFT_MINIMUM_MEMORY, docs/scale.md).
[[nodiscard]] bool minimum_memory();

// Whether the ranks of a host share what messages to other hosts take (WEFT_MINIMUM_MEMORY=host).
[[nodiscard]] bool shares_endpoints();
// The number of buffers that they share for large messages (WEFT_STAGING_BUFFERS, beside its row).
[[nodiscard]] int buffers_of_host();

}  // namespace weft::transport
