// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Receives with MPI_ANY_TAG, whose messages may come by any lane (docs/design/matching.md, "Several lanes").

#include "core/lane/lane.hpp"

namespace weft::core {

// As settle(), all lanes held: takes in what is under way, and gives pending messages to the receives that the rules
// say.
void settle_all();

// For receives and probes whose messages may come by any lane (Lanes::is_across), all lanes held and settled: the
// message that one gets, left where it is, nullptr when there is none; and posting one.
Unexpected* choose(const Envelope& wanted);
void post_across(Request& r);

}  // namespace weft::core
