// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Operations on memory of this host, with no help of the target.

#include "core/rma/update.hpp"

namespace weft::core::rma {

// Through our address space.
void copy_in(const Target& target, const Local& from, const Remote& to);
void copy_out(const Target& target, const Local& to, const Remote& from);
// `result` nullptr: the old values are not wanted. An error class: no memory.
[[nodiscard]] int32_t update_mapped(const Target& target, const Update& update, const Local& from, const Local* result,
                                    const Remote& to);

// By the kernel. 0, or the errno of its refusal: then nothing was done, or of puts and gets a part.
[[nodiscard]] int kernel_put(const Target& target, const Local& from, const Remote& to);
[[nodiscard]] int kernel_get(const Target& target, const Local& to, const Remote& from);
[[nodiscard]] int update_by_kernel(const Target& target, const Update& update, const Local& from, const Local* result,
                                   const Remote& to, int32_t& error);
[[nodiscard]] int swap_by_kernel(const Target& target, const Element& element, const void* value, const void* compare,
                                 void* result, const Remote& to);

}  // namespace weft::core::rma
