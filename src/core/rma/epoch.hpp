// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Epochs: when which target may be accessed. A target is opened by the first operation on it in an epoch, so that an
// epoch costs what it uses: MPI_Win_lock_all locks nobody, and a fence does not go through the ranks.

#include "core/rma/window.hpp"

namespace weft::core::rma {

// Whether an operation on this target is allowed now; opens it. An error class.
[[nodiscard]] int32_t allow(Window& window, int32_t rank);

}  // namespace weft::core::rma
