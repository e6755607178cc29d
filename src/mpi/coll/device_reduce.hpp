// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Blocking reductions of data that all ranks have on devices, on one host: each rank maps the buffers of the others and
// computes its part of the result by kernels.
//
// Ranks do this together or not at all. Each offers its buffers, sees the offers of all, and says whether it could map
// them; if one cannot, all use host memory (device.hpp). Offers are made only where all ranks know that all have
// devices and that the data have enough bytes, so that the path of small data and of host data has no extra steps.

#include "mpi/coll/arguments.hpp"

namespace weft::mpi {

// The part of the result that a rank gets: all, all at the root, its block.
enum class Gets : uint8_t { all, root, part };

// `count` elements of each rank; with Gets::part the elements of a block. False: the operation goes another way, on all
// ranks alike. True: `error` is what the call returns.
[[nodiscard, gnu::cold]] bool reduce_among_devices(const Form& form, const ReductionArgument& data, MPI_Count count,
                                                   MPI_Comm comm, Gets gets, int root, int& error);

}  // namespace weft::mpi
