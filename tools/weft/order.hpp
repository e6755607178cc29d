// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Shared by the two forms of `weft order`: orders of a given grid (order.cpp), and of a run's messages
// (order_from.cpp).

#include <cstdint>
#include <string>
#include <vector>

#include "weft/commands.hpp"

namespace weft::tool {

int order_from(const Words& words);

// Functions that read a value of an option return the mistake in it, or an empty text.
[[nodiscard]] std::string read_count(const std::string& text, int32_t& count);               // of ranks
[[nodiscard]] std::string read_sides(const std::string& text, std::vector<int32_t>& sides);  // "16,2,8", at most 8
[[nodiscard]] std::string read_name(const std::string& text, std::string& name);

}  // namespace weft::tool
