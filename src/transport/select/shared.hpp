// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The transport between hosts where the ranks of a host share an endpoint (transport/relay).

#include "transport/relay/carrier.hpp"
#include "transport/select/hosts.hpp"

namespace weft::transport::net {

// Opens it as open() does; the library is libfabric, the only one for which that is worth it: with others each rank has
// its own endpoint.
Transport* open_shared(const Opening& opening, const relay::Host& host);

}  // namespace weft::transport::net
