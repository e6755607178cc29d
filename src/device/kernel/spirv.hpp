// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The kernels of ptx.hpp once more, for Level Zero: the same results, as modules of SPIR-V, which drivers compile for
// the device they have. Drivers want to see each memory that a kernel uses as a parameter of its own.

#include <cstdint>
#include <vector>

#include "device/kernel/ptx.hpp"

namespace weft::device::spirv {

// Parameters: the place of the layout, that of the packed form, with a list its copy on the device, and
// ptx::LayoutArguments, whose addresses are not looked at.
[[nodiscard]] std::vector<uint32_t> module_of(const ptx::LayoutForm& form);
// Parameters: in, inout, and the number of elements, in 64 bits. Empty: there is no such operation on such numbers.
[[nodiscard]] std::vector<uint32_t> module_of(const KernelReduction& reduction);

}  // namespace weft::device::spirv
