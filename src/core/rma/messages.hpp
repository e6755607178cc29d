// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Operations that the target performs when it makes progress.

#include "core/memory/update.hpp"
#include "core/rma/window.hpp"

namespace weft::core::rma {

using memory::Element;
using memory::Update;

void send_put(Window& window, const Local& from, const Remote& to);
void send_update(Window& window, const Update& update, const Local& from, const Remote& to);

// The answer is there after a flush, or when `request` is complete. An error class: no memory.
[[nodiscard]] int32_t ask_for(Window& window, const Local& to, const Remote& from, Request* request);
[[nodiscard]] int32_t ask_for_update(Window& window, const Update& update, const Local& from, const Local& result,
                                     const Remote& to, Request* request);
[[nodiscard]] int32_t ask_to_swap(Window& window, const Element& element, const void* value, const void* compare,
                                  void* result, const Remote& to);

}  // namespace weft::core::rma
