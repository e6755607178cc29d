// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Reductions of numbers of 8 bytes among the ranks of a file.

#include "coll/plan/reducer.hpp"

namespace weft::io {

// The smallest of all.
[[nodiscard]] const coll::Reducer& smaller_number();
[[nodiscard]] const coll::Reducer& sum_of_numbers();

}  // namespace weft::io
