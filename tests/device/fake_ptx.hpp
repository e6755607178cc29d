// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kernels of PTX, interpreted: the instructions that those of Weft, of bench and of apps have, without barriers, one
// thread after the other. Each is checked for its registers' sizes and each access to memory for its alignment.

#include <cstddef>
#include <vector>

namespace fake_ptx {

struct Kernel;
struct Size {
  unsigned x, y;
};

// The kernel of a module's text; nullptr: a line is no instruction that is known, which is printed.
Kernel* load(const char* text, const char* name);
// The parameters of a launch, as the kernel has them.
std::vector<char> arguments_of(const Kernel& kernel, void** parameters);
// `reach` says where bytes at an address of the device are; nullptr: nowhere. 0: done; otherwise an error of CUDA.
int run(const Kernel& kernel, Size blocks, Size threads, const void* arguments,
        void* (*reach)(unsigned long long address, size_t bytes));

}  // namespace fake_ptx
