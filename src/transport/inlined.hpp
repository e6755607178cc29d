// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The one transport whose sends and receipts core inlines, that of ranks of one host: core's view of it, by names
// that say what each is for. Everything else goes through Transport and Endpoint.

#include "transport/shm/transport.hpp"

namespace weft::transport::inlined {

using Endpoint = shm::ShmEndpoint;                     // writes into a peer's rings
using RingReader = shm::RingReader<>;                  // reads a ring of ours
using Cell = shm::Cell<>;                              // of a ring
inline constexpr auto cell_bytes = shm::inline_bytes;  // of data that one cell takes

}  // namespace weft::transport::inlined
