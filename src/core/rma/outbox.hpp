// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How operations reach a target by messages. Small ones are gathered: nobody may count on them before the next call
// that synchronises, so many go as one frame, and the last of them together with the request to say when all is done.
// They leave when the frame is full, when something has to be waited for, and when this process makes progress.

#include <algorithm>
#include <memory>

#include "core/rma/window.hpp"
#include "core/rma/wire.hpp"
#include "core/world.hpp"

namespace weft::core::rma {

// Bytes of a frame of records or of answers. WEFT_MAILBOX_LIMIT may ask for less than one of them takes.
inline uint32_t frame_limit() {
  constexpr uint32_t least = transport::mailbox_limit(INT64_MAX);  // which every job's way takes
  return std::max(world->mailbox_limit, least);
}

// Something whose answer comes by a message. take() runs with a lane held, once for each answer; it returns whether
// that was the last one to its number.
struct Awaited {
  using Take = bool (*)(Awaited& awaited, const Answer& answer, const char* data);
  explicit Awaited(Take by) : take(by) {}

  Take take;
  uint64_t number = 0;  // of the last record that names it, of those that move data: Outbox::added
};

// The number that answers name it by, until the last of them. Ends the job when there is no memory.
[[nodiscard]] uint64_t cookie_of(Awaited& awaited);
// The addressee of an answer; nullptr: nobody waits for it (any more). With a lane held, as forget_awaited().
[[nodiscard]] Awaited* find_awaited(uint64_t cookie);
void forget_awaited(uint64_t cookie);

// Waits for a number of answers without data.
class Ticket : public Awaited {
 public:
  Ticket() : Awaited(on_answer) {}
  void expect() { left_.fetch_add(1, std::memory_order_relaxed); }
  // The first error among the answers.
  [[nodiscard]] int32_t wait();

 private:
  static bool on_answer(Awaited& awaited, const Answer& answer, const char* data);

  std::atomic<int32_t> error_ = 0;
  std::atomic<int32_t> left_ = 0;
};

// Data that go with a record: of the caller's, from packed byte `position` on, or bytes as they are.
struct Payload {
  const Local* local = nullptr;
  int64_t position = 0;
  const void* raw = nullptr;
};

enum class Leave : uint8_t { later, now };

struct Outbox {
  Outbox(Window& in, int32_t rank);

  // Sends or gathers a record, with its runs and data. May make progress. By any thread; records arrive in order.
  void add(const Record& record, const Run* runs, const Payload& payload, size_t bytes, Leave leave);
  // The same with no data.
  void add(const Record& record, Leave leave) { add(record, nullptr, {}, 0, leave); }

  // All records up to this one are done at the target: they are in order there.
  void settle(uint64_t number);

  // Bytes of runs and data that fit into one frame with a record.
  size_t room() const;

  void send();  // what was gathered; with the lock

  base::Lock lock;
  Window& window;
  Peer& peer;
  uint32_t used = 0;
  uint32_t capacity;
  std::unique_ptr<char[]> bytes;
  // Records that move data; those behind which an answer comes; those known to be done at the target.
  uint64_t added = 0;
  uint64_t answered = 0;
  std::atomic<uint64_t> settled = 0;
  bool listed = false;  // under the lock of the list
  Outbox* next = nullptr;
  Outbox* made_before = nullptr;  // of the window

 private:
  void send_staged(const Record& record, const Run* runs, const Payload& payload, size_t bytes);
};

// The way by messages to a target, made on first use.
[[nodiscard]] Outbox& outbox_of(Window& window, int32_t rank);
// Takes all of a window back; they have nothing to send.
void drop_outboxes(Window& window);

// A record of its own to a rank of the window, from wherever we are: also with a lane held. `cookie` as in Record.
void tell(const Window& window, int32_t rank, Action action, uint64_t cookie = 0);

}  // namespace weft::core::rma
