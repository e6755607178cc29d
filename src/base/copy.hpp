// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace weft::base {

// Copies with stores that go past the caches to memory, where the processor has them: lines that another processor has
// in its caches are not fetched from there first. For memory that is read next by a processor far away, and not by this
// one. A release store that follows publishes the bytes. The two must not overlap.
void copy_past_caches(void* to, const void* from, size_t bytes);

}  // namespace weft::base
