// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How a window is made and ended. All ranks: prepare(), swap parts with those of their host, agree on the largest
// generation, then open(). When all have done so, operations may begin; if one of them has an error, all close().

#include <cstdint>
#include <vector>

#include "core/rma/window.hpp"

namespace weft::core::rma {

// Gives the window memory of its own, as window.wish says, or on_device; false: there is none, see window.grant.
[[nodiscard]] bool allocate(Window& window, uint64_t bytes);
// Fills in `part`. Allocates the memory for Flavor::allocate; `window.comm`, base, bytes and unit are set. Memory of
// Flavor::shared has been laid out by the caller, who says in `part` whose it is where it is not our own.
void prepare(Window& window, Flavor flavor, WindowPart& part);
// Takes the parts of the ranks of this host, ourselves among them, and the generation that all agreed on.
void open(Window& window, const std::vector<int32_t>& ranks, const std::vector<WindowPart>& parts, uint32_t generation);
// Gives everything back. All operations are over, on all ranks.
void close(Window& window);

}  // namespace weft::core::rma
