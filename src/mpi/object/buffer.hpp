// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Addresses of data that are none.

#include <cstdint>
#include <string>

namespace weft::mpi {

// Whether data that begin `offset` bytes behind `buffer` are nowhere: MPI_BOTTOM without a datatype of absolute
// addresses, MPI_IN_PLACE where it means nothing, a small number.
inline bool no_data(const void* buffer, int64_t offset) {
  return reinterpret_cast<uintptr_t>(buffer) + static_cast<uintptr_t>(offset) < 4096;
}

// Such an address, for a person.
[[nodiscard]] std::string no_data_text(const void* buffer);

}  // namespace weft::mpi
