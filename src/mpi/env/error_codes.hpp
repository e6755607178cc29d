// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Error classes and codes: those of the standard, and those a program adds (MPI-5.0, 9.5). Usable without MPI_Init,
// from any thread.

namespace weft::mpi {

// "MPI_ERR_RANK: rank outside ..."; nullptr when the standard has no such class.
[[nodiscard]] const char* standard_error_text(int error);

// The class of a class or code; -1 when there is no such code.
[[nodiscard]] int class_of_error(int error);

// The highest code in use: what MPI_LASTUSEDCODE says.
[[nodiscard]] int last_used_error_code();

}  // namespace weft::mpi
