// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The interfaces of one process, MPI and OpenSHMEM, share its membership in the job: the first that starts joins it.
// When the last has ended, the process rests: it may end in any way, and an interface may start again (a session after
// MPI_Finalize). It leaves the job when it exits.

#include <cstdint>

namespace weft::core {

// Counts an interface. `multiple` and `alike` are those of start() (world.hpp), if it is the first. False: the process
// has left the job, as it exits. Thread-safe, as leave().
[[nodiscard]] bool join(bool multiple, uint64_t (*alike)());

// Counts one less. Its operations are over.
void leave();

// Whether the process has left the job.
[[nodiscard]] bool has_left();

}  // namespace weft::core
