// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace weft::mpiexec {

// Prints the tree of the user's jobs on this host; the result is mpiexec's exit status.
int show_jobs();

}  // namespace weft::mpiexec
