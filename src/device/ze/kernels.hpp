// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kernels on Level Zero's devices: those of kernel/spirv.hpp, which the driver compiles at their first use on a device.
// It may refuse one, as devices without 64-bit floats do: then layouts go by copies, and the processor reduces.

#include <string>

#include "device/kernel/kernel.hpp"

namespace weft::device::by_ze {

// Driver has these functions under the same names.
[[nodiscard]] std::string move(const KernelLayout& layout, KernelDirection direction, int64_t position, void* packed,
                               int64_t bytes);
[[nodiscard]] std::string reduce(const KernelReduction& reduction, const void* in, void* inout, int64_t count);

// Why the driver last refused a kernel, told once; empty: it has refused none since.
[[nodiscard]] std::string why_no_kernel();

}  // namespace weft::device::by_ze
