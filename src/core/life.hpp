// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The interfaces of one process, MPI and OpenSHMEM, share its membership in the job: the first that starts joins it,
// the last that ends leaves it. A process that has left cannot join again.

#include <cstdint>

namespace weft::core {

// Counts an interface. `multiple` and `alike` are those of start() (world.hpp), if it is the first. False: the process
// has left the job. Thread-safe, as leave().
[[nodiscard]] bool join(bool multiple, uint64_t (*alike)());

// The interfaces that have joined so far, those that have left among them.
[[nodiscard]] int joins();

// Counts one less. Its operations are over.
void leave();

}  // namespace weft::core
