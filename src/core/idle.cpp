// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/idle.hpp"

namespace weft::core {

constinit bool idle_is_timed = false;
constinit thread_local Idle own_idle;

}  // namespace weft::core
