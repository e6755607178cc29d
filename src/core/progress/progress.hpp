// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Progress: one round polls the rings, sends what found the way full, and moves streams. It never blocks. Waiting is
// built on it (core/progress/waiting.hpp), and a thread that makes progress on its own would call it too.

#include <cstdint>

#include "core/object/request.hpp"

namespace weft::core {

// One round of progress on all lanes, but for those that another thread is at. Whether anything happened. `awaited`:
// the receive of MPI_Recv that the calling thread waits for.
bool progress(Request* awaited = nullptr);

// Makes a round on the lane of this request first, and on the others only now and then (`round` counts).
bool progress_for(Request& request, uint32_t round);

// One round of progress on this lane; on the others, and with what was gathered, only now and then (`round` counts).
// Whether anything happened.
bool progress_on(uint32_t lane, uint32_t round, Request* awaited = nullptr);

// Calls that end without a message use it, if they are all that a program makes until another rank has done something
// that needs us, such as the loop of a spin lock. It makes one round of progress for every few of them of a thread.
void progress_at_times();

}  // namespace weft::core
