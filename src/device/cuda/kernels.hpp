// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kernels on CUDA's devices: those of kernel/ptx.hpp, which the driver compiles at their first use in a context.

#include <string>

#include "device/kernel/kernel.hpp"

namespace weft::device::by_cuda {

// Driver has these functions under the same names.
[[nodiscard]] std::string move(const KernelLayout& layout, KernelDirection direction, int64_t position, void* packed,
                               int64_t bytes);
[[nodiscard]] std::string reduce(const KernelReduction& reduction, const void* in, void* inout, int64_t count);

}  // namespace weft::device::by_cuda
