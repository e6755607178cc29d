// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Wishes as people write them, in settings and in info keys.

#include <string>
#include <string_view>

#include "pages/grant.hpp"

namespace weft::pages {

// Each takes a value, or says what is wrong with it; an empty result means taken. Case does not matter.
//   affinity    SYS_DEFAULT, DDR, HBM (also MCDRAM), or the number of a NUMA node
//   policy      Preferred, Mandatory, Interleave, or the first letter
//   page size   4K, and powers of two from 2M to 1G
[[nodiscard]] std::string parse_affinity(std::string_view text, Wish& wish);
[[nodiscard]] std::string parse_policy(std::string_view text, Wish& wish);
[[nodiscard]] std::string parse_page(std::string_view text, Wish& wish);

std::string shown_affinity(Affinity affinity, int node);
const char* shown_policy(Policy policy);
std::string shown_page(size_t bytes);  // "2M"
const char* shown_kind(MemoryKind kind);

// The wish of the settings (WEFT_ALLOC_MEM_AFFINITY, _POLICY, _PG_SZ); an empty `problem` means that all can be read.
[[nodiscard]] Wish wish_of_settings(std::string& problem);

// Says what is wrong in these settings or in WEFT_MEMORY_NODES; empty: nothing is.
[[nodiscard]] std::string check_settings();

}  // namespace weft::pages
