// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace weft::foreign {

// Raises the error of a function that only MPICH or Intel MPI has; returns its code, as the program has it.
[[nodiscard, gnu::cold]] int refuse(const char* function, const char* reason);

// Raises the error of an argument that the function refuses; returns its code, as the program has it.
[[nodiscard, gnu::cold]] int refuse_argument(const char* function, int error, const char* reason);

}  // namespace weft::foreign
