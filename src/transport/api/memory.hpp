// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace weft::transport {

// Whether transports shall take as little memory as they run with (WEFT_MINIMUM_MEMORY, docs/scale.md).
[[nodiscard]] bool minimum_memory();

}  // namespace weft::transport
