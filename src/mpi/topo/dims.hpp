// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Balanced factors of a number: what MPI_Dims_create fills in (MPI-5.0, 8.5.2).

#include <cstdint>
#include <vector>

namespace weft::mpi {

// `count` factors of `number` (both at least 1), the largest first, as close to each other as possible: the difference
// between the largest and the smallest is the least there is. Among equal differences the larger ones win, whose ratio
// is nearer to 1; then the grid with the least surface, which is the sum of number / factor: the links that cutting the
// grid once in each dimension cuts.
[[nodiscard]] std::vector<int32_t> balanced_factors(int32_t number, int32_t count);

}  // namespace weft::mpi
