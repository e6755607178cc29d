// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How operations reach a target by messages. Small ones are gathered: nobody may count on them before the next call
// that synchronises, so many go as one frame, and the last of them together with the request to say when all is done.
// They leave when the frame is full, when something has to be waited for, and when this process makes progress.
//
// The outbox of a target has a box for each lane: a thread fills that of its own lane, so that threads share nothing.
// Order:
//  - Records of one box leave by its lane and are performed in their order. Records of several boxes have none: puts
//    and gets need none before the next call that synchronises.
//  - A call that synchronises waits for each box of the target that has records not known to be done (LaneBox::added,
//    settled). A record that the call has to complete happened before it, so its store of `added` is seen, also where
//    another thread made it.
//  - Updates of one origin are performed in the order in which they were made, by whichever threads (MPI-5.0, 12.7.2):
//    they take one box of their target at a time (InOrder).
//  - The answers to a record come back by its lane, where its Awaited is known by a number of that lane. So all that
//    touches an Awaited runs with one lane held.

#include <algorithm>
#include <memory>

#include "core/peer/peer.hpp"
#include "core/rma/window.hpp"
#include "core/rma/wire.hpp"

namespace weft::core::rma {

// Bytes of a frame of records or of answers. WEFT_MAILBOX_LIMIT may ask for less than one of them takes.
inline uint32_t frame_limit() {
  constexpr uint32_t least = transport::mailbox_limit(INT64_MAX);  // which every job's way takes
  return std::max(peers->mailbox_limit, least);
}

// Something whose answer comes by a message. take() runs with the lane of its number held, once for each answer; it
// returns whether that was the last one to its number.
struct Awaited {
  using Take = bool (*)(Awaited& awaited, const Answer& answer, const char* data);
  explicit Awaited(Take by) : take(by) {}

  Take take;
  uint64_t number = 0;  // of the last record that names it, of those that move data: LaneBox::added
};

// The number that answers by this lane name it by, until the last of them. Ends the job when there is no memory.
[[nodiscard]] uint64_t cookie_of(Awaited& awaited, uint32_t lane);
// The addressee of an answer that came by this lane; nullptr: nobody waits for it (any more). With the lane held, as
// forget_awaited().
[[nodiscard]] Awaited* find_awaited(uint32_t lane, uint64_t cookie);
void forget_awaited(uint32_t lane, uint64_t cookie);

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

// The records that go to a target by one lane.
struct LaneBox {
  LaneBox(Window& in, int32_t rank, uint32_t by_lane);

  // Sends or gathers a record, with its runs and data. May make progress. By any thread; records arrive in order.
  void add(const Record& record, const Run* runs, const Payload& payload, size_t data, Leave when);
  // Sends or gathers a record without data.
  void add(const Record& record, Leave when) { add(record, nullptr, {}, 0, when); }

  // Sends the records gathered so far, as soon as there is space.
  void send_all();

  // All records up to this one are done at the target: they are in order there.
  void settle(uint64_t number);
  // Whether all records are known to be done. Other threads' records count if they were added before.
  bool is_settled() const { return settled.load(std::memory_order_acquire) >= added.load(std::memory_order_relaxed); }

  // Bytes of runs and data that fit into one frame with a record.
  size_t room() const;

  // Sends the records gathered so far; with the lock. false: the way is full, and progress sends the rest once the box
  // is listed.
  [[nodiscard]] bool send();

  base::Lock lock;  // never waited for while a lane is held
  Window& window;
  Peer& peer;
  const uint32_t lane;  // ours, and the target's
  uint32_t used = 0;
  uint32_t capacity;
  std::unique_ptr<char[]> bytes;
  // A record in staging memory that found the way full, behind what was gathered.
  transport::Staging staged;
  uint32_t staged_bytes = 0;
  bool full = false;  // it has found the way full since it was last empty
  // Records that move data; those behind which an answer comes; those known to be done at the target. The first two are
  // written with the lock.
  std::atomic<uint64_t> added = 0;
  std::atomic<uint64_t> answered = 0;
  std::atomic<uint64_t> settled = 0;
  std::atomic<uint32_t> pins = 0;  // updates that are being added: InOrder
  bool listed = false;             // among those that progress looks at
  LaneBox* next = nullptr;

 private:
  void enter(size_t size);
  void note(const Record& record);
  void leave(Leave when);
  void add_staged(const Record& record, const Run* runs, const Payload& payload, size_t data);
};

// All that goes to a target by messages.
struct Outbox {
  static constexpr uint32_t nobody = UINT32_MAX;

  Outbox(Window& window, int32_t rank);

  // Made on first use.
  LaneBox& at(uint32_t lane);
  // nullptr: there is none yet.
  LaneBox* find(uint32_t lane) const { return by_lane[lane].load(std::memory_order_acquire); }
  // The lane of the calling thread.
  uint32_t own_lane() const;

  Window& window;
  const int32_t rank;
  const uint32_t mask;  // lanes that both sides have - 1
  std::unique_ptr<std::atomic<LaneBox*>[]> by_lane;
  std::atomic<uint32_t> updates = nobody;  // the lane of updates: InOrder
  Outbox* made_before = nullptr;           // of the window
};

// The outbox of a target; nullptr: it has none yet.
inline Outbox* known_outbox(const Target& target) {
  return std::atomic_ref(const_cast<Outbox*&>(target.outbox)).load(std::memory_order_acquire);
}
// The outbox of the target of a window that was contacted last, from which made_before leads to the others. Only
// drop_outboxes() takes one away. A thread finds all targets that were contacted before, by any thread.
inline Outbox* last_outbox(const Window& window) {
  return std::atomic_ref(const_cast<Outbox*&>(window.outboxes)).load(std::memory_order_acquire);
}
// The outbox of a target, made on first use.
[[nodiscard]] Outbox& outbox_of(Window& window, int32_t rank);
// The box of the calling thread.
[[nodiscard]] LaneBox& box_of(Window& window, int32_t rank);
// Takes all outboxes of a window back; they have nothing to send.
void drop_outboxes(Window& window);

// While updates of a target are added: the box that they go through.
//
// Updates of all threads take one box, that of the thread that was first. Another thread takes them over to its own
// as soon as nothing is under way on the old one. Both happen with the lock of the box that Outbox::updates names,
// which changes with that lock alone. So a thread that has pinned the named box knows that updates stay there until
// it is done; and a thread that takes over has found no pin, and every record that was ever added known to be done at
// the target: updates that were made before have been performed there, and those made afterwards find the new name.
class InOrder {
 public:
  InOrder(Window& window, int32_t rank);
  ~InOrder() { box.pins.fetch_sub(1, std::memory_order_release); }  // pairs with the acquire of the next owner
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;

  LaneBox& box;
};

// A record of its own to a rank of the window, from wherever we are: also with a lane held. `cookie` as in Record.
void tell(const Window& window, int32_t rank, Action action, uint64_t cookie = 0);

}  // namespace weft::core::rma
