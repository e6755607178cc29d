// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The kernels of ptx.hpp once more, for AMD's devices: the same names, arguments and results, as text in C++ with HIP's
// words, which the library of HIP compiles for the device it has.

#include <string>

#include "device/kernel/ptx.hpp"

namespace weft::device::hip_text {

[[nodiscard]] std::string text_of(const ptx::LayoutForm& form);
// Empty: there is no such operation on such numbers.
[[nodiscard]] std::string text_of(const KernelReduction& reduction);

}  // namespace weft::device::hip_text
