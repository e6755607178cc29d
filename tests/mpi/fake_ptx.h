/* SPDX-FileCopyrightText: 2026 the Weft authors */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of PTX, interpreted: the instructions that Weft's kernels have, without barriers, one thread after the
   other. Each is checked for its registers' sizes and each access to memory for its alignment. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel of a module's text; NULL: a line is no instruction that is known, which is printed. */
void* fake_ptx_load(const char* text, const char* kernel);
size_t fake_ptx_bytes_of_arguments(const void* kernel);

/* `reach` says where bytes at an address of the device are; NULL: nowhere. 0: done; otherwise an error of CUDA. */
int fake_ptx_run(const void* kernel, unsigned blocks, unsigned threads, const void* arguments,
                 void* (*reach)(unsigned long long address, size_t bytes));

#ifdef __cplusplus
}
#endif
