// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Views: the same window once more for some of its operations, with outboxes of their own. Operations on a view are
// gathered, ordered and completed apart from those on the window and on its other views, and threads with a view each
// share no outbox. Targets know nothing of views: records name the window. A view allows operations on all targets,
// without locks, as after lock_all(window, false); it is this process's alone.

#include "core/rma/window.hpp"

namespace weft::core::rma {

// false: no address space.
[[nodiscard]] bool open_view(Window& view, Window& window);
// Nothing is under way on it, and the window is still open.
void close_view(Window& view);

// Copies from the view's window how a target is reached, once.
void meet_in_view(Window& view, int32_t rank);

}  // namespace weft::core::rma
