// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Orders that no script says: many messages, many sources, receivers that do not synchronise.

#include "threads_order/exchange.hpp"

namespace order {

// The first receive with a wildcard of the whole program finds messages of many tags that were sent, by several
// threads, when there was none.
void first_wildcard(Team& senders);

// A receiver out of MPI: the ways to it fill up, by one tag and then by many, and other threads go on with other tags.
void full_ring(Team& senders, Team& receivers, uint64_t seed);

// All ranks send to rank 0, ordered by source alone. Receives name nothing, a tag, or a source.
void many_sources(Team& senders, Team& receivers, uint64_t seed);

// Senders synchronise, receivers do not: each receiver gets its messages in order, and none twice or never.
void receivers_at_once(Team& senders, uint64_t seed);

}  // namespace order
