// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Moments in the runtime that a tool may want to hear of, all of them on slow paths. Without a listener each costs one
// load. A listener is called at once, by the thread to which it happens, which may hold lanes and the queues of waiting
// messages: it must not communicate, and take no lock that is held around anything that does.

#include <atomic>
#include <cstdint>

namespace weft::core {

enum class Event : uint8_t {
  unexpected,  // a message came before its receive and is kept
  rendezvous,  // a send was announced to its receiver (R0, R1)
  queued,      // a send found the way full and waits for space
  saturated,   // unexpected data are beyond their limit: senders are asked for envelopes only
  sleep,       // a wait goes to sleep in the kernel
  wake,        // and is back
};
inline constexpr int event_count = 6;

struct EventData {
  int32_t peer = 0;      // source: rank in the communicator; destination: rank in the job
  int32_t tag = 0;       // of the message
  int64_t amount = 0;    // bytes of the message or kept; nanoseconds slept
  int32_t internal = 0;  // 1: no point-to-point message of the program, see is_internal()
};

using Listener = void (*)(Event event, const EventData& data);

// The listener is set before the first event is heard, and stays.
extern std::atomic<Listener> listener;
extern std::atomic<uint32_t> events_heard;  // a bit for each event

inline bool is_heard(Event event) {
  return (events_heard.load(std::memory_order_acquire) >> static_cast<int>(event) & 1) != 0;
}

[[gnu::cold, gnu::noinline]] void tell_listener(Event event, const EventData& data);

inline void tell_of(Event event, const EventData& data) {
  if (is_heard(event)) [[unlikely]]
    tell_listener(event, data);
}

}  // namespace weft::core
