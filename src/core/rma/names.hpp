// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A window's name in frames: the context of its communicator and a generation, on which its ranks agree when it is
// made. No two windows that a process is ever part of have the same name, though contexts are used again. So a frame
// that is late, or was never right, names no window here: it is dropped and counted.

#include "core/rma/window.hpp"

namespace weft::core::rma {

// A generation that no window of this process had. Thread-safe.
[[nodiscard]] uint32_t propose_generation();

// The window has its name from here on, until forget_name(): a process that proposes afterwards proposes more.
void give_name(Window& window, uint32_t generation);
void forget_name(Window& window);

// nullptr: there is none. With the lane held that the frame came on; the window lives until it is let go.
[[nodiscard]] Window* find_window(uint32_t context, uint32_t generation);

// Shows all windows, unless another thread is at lane 0.
void each_window(void (*look)(Window& window, void* about), void* about);

}  // namespace weft::core::rma
