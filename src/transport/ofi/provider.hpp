// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "transport/ofi/library.hpp"

namespace weft::transport::ofi {

// The best provider that works on an address of this host that may be used: its description of an endpoint of ours, to
// be given to freeinfo(). Ends the job with what was tried when nothing works.
fi_info* choose_provider();

}  // namespace weft::transport::ofi
