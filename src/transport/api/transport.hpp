// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What every transport offers to core: active messages of mailbox size to a rank, staging buffers the peer can read,
// direct reads and writes of the peer's memory where the machine allows them, and a way to sleep until something
// arrives. Types are erased here, once: core makes one indirect call per message.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::transport {

// What a message is matched by. `stamp` orders messages of one sender across lanes; unused with one lane.
struct Envelope {
  uint32_t context;
  int32_t source;  // rank in the communicator
  int32_t tag;
  uint32_t stamp;
};
static_assert(sizeof(Envelope) == 16);

// `retry`: the way is full now; nothing was taken, send again after progress.
enum class [[nodiscard]] Post : uint8_t{done, retry};

// A message as its receiver sees it, valid during the call that brings it.
struct Arrival {
  uint8_t kind;  // given by the sender; core's protocols name the values, 0xff is reserved for transports
  Envelope envelope;
  const void* data;
  uint32_t bytes;
};

using Sink = void (*)(const Arrival&);

// Memory of one rank as another names it. `key` is the transport's: for shared memory the offset in the job's segment,
// or `no_key` for private memory, which is read through the kernel.
struct MemoryRef {
  static constexpr uint64_t no_key = ~uint64_t{0};
  uint64_t address;
  uint64_t key;
};

// A piece of the sender's staging memory: the sender fills it, the receiver reads and releases it.
struct Staging {
  void* memory = nullptr;  // nullptr: none free now
  uint64_t handle = 0;     // what the receiver calls it
};

// Work that sender and receiver of one message share: both take chunks of it until none is left. Lies where both reach
// it.
struct alignas(64) Claim {
  std::atomic<uint64_t> next;  // generation << 32 | the next chunk nobody has taken
  std::atomic<uint32_t> done;  // chunks copied
};
inline constexpr int claim_slots = 32;  // per rank

// The way to one rank.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // Sends a message of at most mailbox_limit() bytes. The data may be reused when this returns done.
  virtual Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) = 0;

  // Copies between our memory and the peer's. 0, or the errno that says why not: nothing may be assumed copied then.
  [[nodiscard]] virtual int get(const MemoryRef& from, void* to, size_t bytes) = 0;
  [[nodiscard]] virtual int put(const MemoryRef& to, const void* from, size_t bytes) = 0;

  // The peer's staging buffer behind a handle it sent us, and its return to the peer.
  virtual const void* staging(uint64_t handle) = 0;
  virtual void release_staging(uint64_t handle, size_t bytes) = 0;

  // The peer's claim slot; nullptr when the transport has none.
  virtual Claim* claim(uint32_t slot) = 0;

  // Whether the peer asks for no more than envelopes: its memory for unexpected messages is used up. Not virtual: it is
  // read before every eager message.
  bool congested() const { return (attention_->load(std::memory_order_relaxed) & saturated) != 0; }

 protected:
  // Bits of the word that a peer uses to catch a sender's eye; zero costs the sender one load.
  static constexpr uint32_t asleep = 1;     // the peer sleeps in a futex on the word: wake it
  static constexpr uint32_t saturated = 2;  // the peer's memory for unexpected messages is used up
  static inline std::atomic<uint32_t> nothing_{0};
  const std::atomic<uint32_t>* attention_ = &nothing_;
  static const std::atomic<uint32_t>* attention_of(const Endpoint& other) { return other.attention_; }
  friend class Transport;
};

class Transport {
 public:
  static constexpr uint32_t asleep = Endpoint::asleep;
  static constexpr uint32_t saturated = Endpoint::saturated;

  virtual ~Transport() = default;
  virtual const char* name() const = 0;

  // The way to `rank`; made on first use. Never nullptr: what cannot be reached ends the job with a message.
  virtual Endpoint* connect(int rank) = 0;

  // Delivers what has arrived, at most a few dozen messages; how many.
  virtual int poll(Sink sink) = 0;

  // Staging memory of our own for `bytes` (at most staging_limit()).
  virtual Staging reserve_staging(size_t bytes) = 0;
  virtual void drop_staging(const Staging& staging, size_t bytes) = 0;  // not sent after all
  virtual size_t staging_limit() const = 0;

  // How a peer names `bytes` of our memory at `address`.
  virtual MemoryRef describe(const void* address, size_t bytes) const = 0;

  // Our claim slot, for messages we receive; nullptr when the transport has none.
  virtual Claim* claim(uint32_t slot) = 0;

  // Tells senders to send envelopes alone, or data again.
  virtual void set_congested(bool on) = 0;

  // Sleeping: arm(), look once more at everything that could end the wait, then sleep() or disarm(). Whoever sends to
  // an armed rank wakes it; sending to one that is not costs a load.
  virtual void arm() = 0;
  virtual void sleep(uint64_t timeout_ns) = 0;
  virtual void disarm() = 0;
};

// Largest message that goes into the receiver's mailbox whole, by job size (ranks): what all mailboxes together may
// take of a rank's memory is bounded.
constexpr uint32_t mailbox_limit(int64_t ranks) {
  if (ranks <= 512) return 8152;
  if (ranks <= 1024) return 2008;
  if (ranks < 16384) return 472;
  if (ranks <= 256 * 1024) return 216;
  return 100;
}

}  // namespace weft::transport
