// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace weft::boot {

// Hydra's mpiexec listens at all addresses, and the ranks of its own host inherit that socket: a rank would answer to
// any process, and hold the port when Hydra has ended. Closes it where this process is the child of a proxy whose
// command line names the port. Any other descriptor stays as it is.
void close_hydras_listener();

}  // namespace weft::boot
