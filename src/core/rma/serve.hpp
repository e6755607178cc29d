// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The service of arriving records at a target, and of answers at an origin: handlers, which run with the lane held that
// the message came on. The records of one lane come in the order in which they were sent, those of several in any.

#include "core/rma/window.hpp"
#include "core/rma/wire.hpp"
#include "transport/api/transport.hpp"

namespace weft::core::rma {

// Ends the job because of a message for a window that no correct rank sends.
[[noreturn]] void refuse_frame();

// The shape of our part, as origins are told.
[[nodiscard]] TargetShape shape_of(const Window& window);

// A copy from or to memory of a device failed in what an origin asked for, who will be told; the reason is told here.
void note_failed_copy(Window& window, int32_t origin);

// Answers what carries no data, to the lane that asked, with the error that the origin has not been told yet.
void answer(Window& window, int32_t origin, uint32_t lane, uint64_t cookie);

}  // namespace weft::core::rma
