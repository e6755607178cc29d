// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/object/event.hpp"

namespace weft::core {

constinit std::atomic<Listener> listener = nullptr;
constinit std::atomic<uint32_t> events_heard = 0;

void tell_listener(Event event, const EventData& data) {
  listener.load(std::memory_order_relaxed)(event, data);
}

}  // namespace weft::core
