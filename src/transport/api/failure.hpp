// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How a transport reports what it cannot mend: to a sink that core gives it, whose policy decides what happens then
// (core/object/failure.hpp). A transport ends no process by its own decision.

#include "base/message.hpp"
#include "transport/api/transport.hpp"

namespace weft::transport {

// `rank`: the peer that is lost, or no_peer: the transport itself. May be called by any thread, with locks held. Where
// it returns the transport goes on without that peer: posts to it say Post::lost, and connect() gives nullptr.
using FailureSink = void (*)(int rank, const base::Problem& problem);

// Before the first transport is made. Without a sink the message is written and the job ends.
void set_failure_sink(FailureSink sink);

// Reports a failure.
void fail(int rank, const base::Problem& problem);

// Reports a failure that no policy can go on from, such as a transport that cannot be opened: the job ends then, should
// the sink return.
[[noreturn]] void fail_for_good(const base::Problem& problem);

}  // namespace weft::transport
