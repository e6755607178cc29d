// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Large puts and gets between hosts. The data travel as a message of the window's communicator, by whatever path a
// message of that size takes, so they are read straight from memory where the network can; a record tells the target
// to receive or to send it. Target::under_way counts what is not over.

#include "core/rma/window.hpp"

namespace weft::core::rma {

// Whether data of this size go so: one piece at the target.
[[nodiscard]] bool is_transfer(const Window& window, const Remote& place, int64_t bytes);

// An error class: no memory. `request` completes when the caller's buffer is its own again.
[[nodiscard]] int32_t transfer_put(Window& window, const Local& from, const Remote& to, Request* request);
[[nodiscard]] int32_t transfer_get(Window& window, const Local& to, const Remote& from, Request* request);

// At the target, with a lane held: receives, or sends, `bytes` at `memory`. The message has this tag; the answer to the
// first goes to this lane.
void take_transfer(Window& window, int32_t origin, char* memory, int64_t bytes, int32_t tag, uint32_t lane,
                   uint64_t cookie);
void give_transfer(Window& window, int32_t origin, char* memory, int64_t bytes, int32_t tag);

}  // namespace weft::core::rma
