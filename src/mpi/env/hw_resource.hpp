// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Types of hardware resources, as MPI_Comm_split_type and MPI_Get_hw_resource_info name them, and which instance of
// each the calling thread is bound to: from its affinity mask and small files of the kernel.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::mpi {

// From the largest to the smallest; named as hwloc names them (MPI-5.0, 9.1.2).
inline constexpr std::array<const char*, 7> hw_resource_types = {
    "hwloc://Machine", "hwloc://Package", "hwloc://NUMANode", "hwloc://L3Cache",
    "hwloc://L2Cache", "hwloc://Core",    "hwloc://PU"};

// The index of a type; -1 when it is none.
[[nodiscard]] int hw_resource_type(std::string_view name);

// By type: a number for the instance that the calling thread is bound to, which no other of the job has; -1 when it may
// use several, or the machine does not tell.
using HwInstances = std::array<int64_t, hw_resource_types.size()>;
[[nodiscard]] HwInstances hw_instances();

}  // namespace weft::mpi
