// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace weft::transport {

// Whether transports shall take as little memory as they run with (WEFT_MINIMUM_MEMORY, docs/design/scale.md).
[[nodiscard]] bool minimum_memory();

// Whether the ranks of a host share what messages to other hosts take (WEFT_MINIMUM_MEMORY=host).
[[nodiscard]] bool shares_endpoints();
// The buffers that they share for large messages (WEFT_STAGING_BUFFERS and WEFT_STAGING_BYTES, beside whose rows it
// is).
struct HostBuffers {
  int count;
  size_t bytes;  // of each
};
[[nodiscard]] HostBuffers buffers_of_host();

}  // namespace weft::transport
