// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/memory/update.hpp"

namespace weft::core::memory {

// As update_here() and swap_here(), for one element of so many bytes, without gaps, by an instruction of the processor.
// False: nothing is done, since that takes more than an instruction, or the elements are under locks.
[[nodiscard]] bool update_word_here(const Region& region, datatype::Basic basic, int64_t bytes,
                                    datatype::Reduction reduction, Busy& busy, const void* in, char* at, void* old);
[[nodiscard]] bool swap_word_here(const Region& region, int64_t bytes, Busy& busy, const void* value,
                                  const void* compare, char* at, void* old);

}  // namespace weft::core::memory
