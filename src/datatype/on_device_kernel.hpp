// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Datatypes for the kernels of a device (device/kernel/kernel.hpp): layouts of many small blocks, and the predefined
// operations. A failure of a kernel is told by device::take_failure().

#include "datatype/reduce.hpp"
#include "datatype/type.hpp"
#include "device/api/device.hpp"

namespace weft::datatype {

// Moves packed bytes [position, position + bytes) of elements on a device to `packed`, or back. False: the driver's
// copies are the better way, or the only one.
[[nodiscard, gnu::cold]] bool move_by_kernel(const Type& type, int64_t count, const void* buffer, int64_t position,
                                             void* packed, int64_t bytes, device::KernelDirection direction);

// The reduction as kernels have it; an operation on numbers that they do not have has Number::none.
[[nodiscard]] device::KernelReduction device_reduction(Reduction reduction, const Type& type);

// inout = in op inout, with `inout` on a device. False: no kernel does it.
[[nodiscard, gnu::cold]] bool reduce_by_kernel(Reduction reduction, const Type& type, const void* in, void* inout,
                                               int64_t count);

}  // namespace weft::datatype
