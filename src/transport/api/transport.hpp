// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The interface of every transport to core: active messages of mailbox size to a rank, staging buffers the peer can
// read, direct reads and writes of the peer's memory where the machine or the network allows them, and a way to sleep
// until something arrives. Types are erased here, once: core makes one indirect call per message.

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/copy.hpp"
#include "pages/grant.hpp"
#include "transport/api/capabilities.hpp"
#include "transport/api/claim.hpp"
#include "transport/api/way.hpp"

namespace weft::transport {

inline constexpr uint32_t max_lanes = 64;  // of a process
inline constexpr int32_t no_peer = -1;     // where a rank of the job stands: none

// The criteria that a message is matched by, the lane it takes into its receiver, and its stamp, which orders messages
// of one sender across lanes (docs/design/matching.md); 0 with one lane.
struct Envelope {
  uint32_t context;
  int32_t source;  // rank in the communicator
  int32_t tag;
  uint32_t lane;
  uint64_t stamp = 0;
};
inline constexpr int stamp_bits = 53;  // of it that travel

// How a process spreads messages over its lanes.
struct LaneMap {
  uint32_t mask = 0;    // lanes - 1; their number is a power of two
  uint32_t spread = 0;  // all ones: by tag too; 0: by communicator alone

  uint32_t lanes() const { return mask + 1; }
  // Whether messages of one communicator take several lanes.
  bool parts() const { return (mask & spread) != 0; }
  uint32_t lanes_log2() const { return static_cast<uint32_t>(std::popcount(mask)); }

  // Consecutive contexts or tags come on different lanes. Folding higher bits in does the same for strides. All sources
  // of one tag share a lane, so that MPI_ANY_SOURCE looks at one.
  uint32_t lane_of(uint32_t context, int32_t tag) const {
    return fold((context >> 1) + (static_cast<uint32_t>(tag) & spread));
  }

 private:
  uint32_t fold(uint32_t x) const {
    x ^= x >> 3;
    x ^= x >> 6;
    return x & mask;
  }
};

// The outcome of a transport's operation.
//   done         it is over; the memory may be used again
//   posted       it goes on; the transport will tell when it is over
//   retry        the way is full now, nothing was taken: ask again after progress
//   unsupported  not in this way, by this transport or for this memory; take another. A read may have copied a part.
//   lost         never: the peer is lost, which was reported (failure.hpp)
enum class [[nodiscard]] Post : uint8_t{done, posted, retry, unsupported, lost};

// Operations that give an errno return this instead of Post::unsupported.
inline constexpr int unsupported = ENOTSUP;

inline constexpr uint8_t kind_limit = 29;  // kinds of messages from here on are the transports' own

// A message as its receiver sees it, valid during the call that brings it.
struct Arrival {
  uint8_t kind;  // given by the sender, below kind_limit
  Envelope envelope;
  const void* data;
  uint32_t bytes;
  int32_t from = no_peer;  // the sender's rank in the job, if Capabilities::names_senders
  bool pushed = false;  // the data follow; `data` is their PushDestination, which the sink fills in: destination_of()
};

using Sink = void (*)(const Arrival&);

// Memory of one rank as another names it. `key` is the transport's: for shared memory the offset in the job's segment,
// or `no_key` for private memory, which is read through the kernel; between hosts the key of registered memory, or
// `no_key` for memory that cannot be read. Adding to the address, and to the key of shared memory, names what lies
// behind.
struct MemoryRef {
  static constexpr uint64_t no_key = ~uint64_t{0};
  uint64_t address;
  uint64_t key;
};

// The rights of peers on memory of ours: nothing beyond what they may with all memory, Endpoint::read(), or write().
enum class Access : uint8_t { named, read, write };

// The memory `bytes` behind.
constexpr MemoryRef advanced(MemoryRef memory, uint64_t bytes) {
  memory.address += bytes;
  if (memory.key != MemoryRef::no_key) memory.key += bytes;
  return memory;
}

struct Span {
  void* begin = nullptr;
  size_t bytes = 0;
};

// Some of a peer's memory, so far behind where it begins.
struct MemoryPiece {
  uint64_t offset;
  uint64_t bytes;
};

// A read that takes its time: it and the memory that it fills are the transport's until it is over.
struct Read {
  // Called once, by the poll() of its lane that finds it over. `error`: 0, or the errno that says why not; nothing may
  // be assumed copied then, and nothing will be from now on.
  void (*over)(Read& read, int error);
};

// Where the data of a pushed message go, which follow it: the sink says so during the call that brings the message. The
// memory and `read` are the transport's until it calls read->over, with error 0: a job that loses data of a message on
// its way ends.
struct PushDestination {
  void* to = nullptr;
  size_t bytes = 0;      // the size of the memory; data beyond it are dropped
  Read* read = nullptr;  // told when they are there; nullptr: nobody wants them
};
inline PushDestination& destination_of(const Arrival& arrival) {
  return *static_cast<PushDestination*>(const_cast<void*>(arrival.data));
}

// A piece of the sender's staging memory: the sender fills it, the receiver reads and releases it.
struct Staging {
  void* memory = nullptr;  // nullptr if none is free now
  uint64_t handle = 0;     // the receiver's name for it
};

// A callback for pushed data that have left: `call` once, by the poll() of the lane that they were sent on.
struct Left {
  void (*call)(void* whose) = nullptr;
  void* whose = nullptr;
};

// A callback for a message whose staged contents are written into the peer's memory: `call` once, by the poll() of its
// lane, when the message is on its way. `written`: they lie there; otherwise they could not be written, and go along.
struct Written {
  void (*call)(void* whose, bool written) = nullptr;
  void* whose = nullptr;
};

// The way to one rank.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // How the peer spreads messages over its lanes.
  virtual LaneMap lanes() const = 0;

  // Sends a message of at most mailbox_limit() bytes on the envelope's lane. The data may be reused when this returns
  // done. Thread-safe.
  virtual Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) = 0;

  // Sends a message whose `data`, of at most 64 bytes, name staging memory of ours, of `staged` bytes. If the peer
  // cannot read that memory, its contents go along.
  virtual Post send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging,
                           size_t staged) = 0;

  // Sends such a message, but first writes the staged contents into the peer's memory, `at` bytes behind its beginning.
  // The message comes when they are there, maybe after messages that are sent later. posted: `told` will tell that it
  // is on its way. One thread at a time may call for each lane of ours, as with poll().
  virtual Post write(uint8_t /*kind*/, Envelope, const void* /*data*/, uint32_t /*bytes*/, const Staging&,
                     size_t /*staged*/, const MemoryRef& /*to*/, size_t /*at*/, uint32_t /*lane*/, Written /*told*/) {
    return Post::unsupported;
  }

  // The way of a message of so many bytes between two ranks that are both in a call. A receiver takes next_way(): the
  // one with the best of the times that were noted last, and now and then the other one. A sender knows by way() which
  // one its peer has last answered. Thread-safe.
  virtual Way next_way(size_t /*bytes*/) { return Way::other; }
  virtual void note_message(Way /*way*/, size_t /*bytes*/, uint64_t /*ns*/) {}
  virtual Way way(size_t /*bytes*/) const { return Way::other; }
  virtual void note_answer(Way /*way*/, size_t /*bytes*/) {}

  // Sends a message of at most Capabilities::push_most bytes from where it lies, which pays for larger ones. done: the
  // data may be reused. posted: `left` will tell that they may. Thread-safe.
  virtual Post push(uint8_t /*kind*/, Envelope, const void* /*data*/, size_t /*bytes*/, Left /*left*/) {
    return Post::unsupported;
  }

  // Copies between our memory and the peer's. 0, or the errno that says why not: nothing may be assumed copied then.
  [[nodiscard]] virtual int get(const MemoryRef& /*from*/, void* /*to*/, size_t /*bytes*/) { return unsupported; }
  [[nodiscard]] virtual int put(const MemoryRef& /*to*/, const void* /*from*/, size_t /*bytes*/) { return unsupported; }

  // These copy likewise between pieces of the peer's memory and bytes of ours that lie together, in the order of the
  // pieces.
  [[nodiscard]] virtual int get_pieces(const MemoryRef& from, const MemoryPiece* pieces, size_t count, void* to) {
    auto* at = static_cast<char*>(to);
    for (size_t i = 0; i < count; at += pieces[i++].bytes) {
      if (const int error = get(advanced(from, pieces[i].offset), at, pieces[i].bytes)) return error;
    }
    return 0;
  }
  [[nodiscard]] virtual int put_pieces(const MemoryRef& to, const MemoryPiece* pieces, size_t count, const void* from) {
    const auto* at = static_cast<const char*>(from);
    for (size_t i = 0; i < count; at += pieces[i++].bytes) {
      if (const int error = put(advanced(to, pieces[i].offset), at, pieces[i].bytes)) return error;
    }
    return 0;
  }

  // Where the peer's memory lies in our address space, while the job lasts; nullptr: nowhere. Thread-safe.
  virtual void* map(const MemoryRef& /*memory*/) { return nullptr; }

  // Copies from the peer's memory, now or while other things go on, from `at` bytes behind its beginning: as much of
  // `bytes` as the transport moves in one piece, which it leaves there. One thread at a time may call for each lane of
  // ours, as with poll().
  virtual Post read(const MemoryRef& from, size_t at, void* to, size_t& bytes, uint32_t /*lane*/, Read&) {
    return get(advanced(from, at), to, bytes) == 0 ? Post::done : Post::unsupported;
  }

  // The `bytes` in the peer's staging buffer behind a handle that this message names, and the return of the buffer to
  // the peer. nullptr: the contents were written into our memory by write(), and nothing is to be returned. No value:
  // the peer has no such buffer, or not so many bytes in it; a correct peer names none like that.
  virtual std::optional<const void*> staging(const Arrival& arrival, uint64_t handle, size_t bytes) = 0;
  virtual void release_staging(uint64_t handle, size_t bytes) = 0;
  // Copies all bytes to `to`, then returns the buffer. Its contents are lost.
  virtual void take_staging(uint64_t handle, const void* staged, void* to, size_t bytes) {
    base::copy(to, staged, bytes);
    release_staging(handle, bytes);
  }
  // All staging memory of the peer that is mapped here, while this lives.
  virtual Span staging_memory() const { return {}; }

  // The peer's claim slot; only where the transport has claim slots.
  virtual Claim* claim(uint32_t /*slot*/) { return nullptr; }

  // Whether the peer sleeps until a message comes; then rouse() wakes it, for news in memory that it looks at. The news
  // are stored before sleeps() is asked.
  bool sleeps() const { return (attention_->load(std::memory_order_relaxed) & asleep) != 0; }
  virtual void rouse() {}
  // Whether a thread of the peer sleeps until its memory changes; rouse() then wakes it. The change is stored before
  // this is asked.
  bool watches_memory() const { return (attention_->load(std::memory_order_relaxed) & watching) != 0; }

  // Whether the peer asks for no more than envelopes: its memory for unexpected messages is used up. Not virtual: it is
  // read before every eager message.
  bool congested() const { return (attention_->load(std::memory_order_relaxed) & saturated) != 0; }

 protected:
  // Bits of the word that a peer uses to catch a sender's eye; zero costs the sender one load.
  static constexpr uint32_t asleep = 1;     // the peer sleeps in a futex on the word: wake it
  static constexpr uint32_t saturated = 2;  // the peer's memory for unexpected messages is used up
  static constexpr uint32_t watching = 4;   // besides asleep: it waits for its memory to change
  static inline std::atomic<uint32_t> nothing_{0};
  const std::atomic<uint32_t>* attention_ = &nothing_;
  static const std::atomic<uint32_t>* attention_of(const Endpoint& other) { return other.attention_; }
  friend class Transport;
};

class Transport {
 public:
  static constexpr uint32_t asleep = Endpoint::asleep;
  static constexpr uint32_t saturated = Endpoint::saturated;
  static constexpr uint32_t watching = Endpoint::watching;

  virtual ~Transport() = default;
  virtual const char* name() const = 0;

  const Capabilities& capabilities() const { return capabilities_; }

  // Whether this transport leads to a rank of the job.
  virtual bool reaches(int rank) const = 0;
  // The way to a rank that it reaches; made on first use, it belongs to the transport and goes with it. nullptr: there
  // is none, which was reported. Thread-safe.
  virtual Endpoint* connect(int rank) = 0;
  // Another process has the place of this rank, or will have it: its endpoint is used no more.
  virtual void forget(int /*rank*/) {}

  // Delivers what has arrived on a lane, at most a few dozen messages; how many. One thread at a time for each lane.
  virtual int poll(uint32_t lane, Sink sink) = 0;

  // With capabilities().drains: delivers everything that was under way on a lane when this was called, and waits for
  // messages whose senders are in the middle of writing them.
  virtual void drain(uint32_t /*lane*/, Sink /*sink*/) {}

  // Whether a lane looks empty. Any thread may ask.
  virtual bool looks_empty(uint32_t lane) const = 0;

  // Staging memory of our own for `bytes`, at most capabilities().staging_most. Thread-safe.
  virtual Staging reserve_staging(size_t bytes) = 0;
  virtual void drop_staging(const Staging& staging, size_t bytes) = 0;  // not sent after all
  virtual Span staging_memory() const { return {}; }                    // all of it, where it lies together

  // Up to where it is sooner done to send the data than to ask first, for a transport to which the usual limit does not
  // apply; 0: it does.
  virtual int64_t eager_bytes() const { return 0; }

  // How a peer names `bytes` of our memory at `address`. With Access::read or write the memory is registered, where the
  // transport does that and it pays; memory with a key is deregistered when no peer uses it any more. Thread-safe.
  virtual MemoryRef register_memory(void* address, size_t /*bytes*/, Access /*access*/) {
    return {reinterpret_cast<uint64_t>(address), MemoryRef::no_key};
  }
  virtual void deregister(const MemoryRef& /*memory*/) {}

  // Our claim slot, for messages we receive; only where the transport has claim slots.
  virtual Claim* claim(uint32_t /*slot*/) { return nullptr; }

  // Memory that peers map, at a multiple of a page and of `alignment`, a power of two. Its pages are taken already, and
  // zero: touching them cannot fail. nullptr with errno set when there is none. Thread-safe.
  [[nodiscard]] virtual void* allocate(size_t /*bytes*/, size_t /*alignment*/) {
    errno = unsupported;
    return nullptr;
  }
  // Memory that peers map for the program, as it wishes: its pages are taken when they are touched. Thread-safe.
  [[nodiscard]] virtual pages::Grant grant(size_t /*bytes*/, const pages::Wish& /*wish*/) {
    return {.problem = "this transport gives no memory"};
  }
  // The kind of such memory, if `memory` lies in it; false: it does not. Thread-safe.
  [[nodiscard]] virtual bool granted(const void* /*memory*/, pages::Grant& /*grant*/) { return false; }
  // Gives back memory of either; false for memory that did not come from here. Thread-safe.
  [[nodiscard]] virtual bool release(void* /*memory*/) { return false; }

  // Whether everything that was sent has left this process.
  virtual bool all_sent() const { return true; }
  // The job ends: peers go, and what does not reach them from now on does not matter.
  virtual void leave() {}
  // After leave(): this process sends again, to peers of which some may be gone.
  virtual void resume() {}

  // Tells senders to send envelopes alone, or data again.
  virtual void set_congested(bool /*on*/) {}

  // Sleeping, where the transport wakes: arm(), look once more at everything that could end the wait, then sleep() or
  // disarm(). A sender to an armed rank wakes it; sending to one that is not costs a load. wake() ends a sleep, or
  // the one that is about to begin, from another thread of this process.
  virtual void arm() {}
  // Before arm(): whether a thread waits for memory that peers change without a message (Endpoint::watches_memory).
  virtual void watch_memory(bool /*on*/) {}
  virtual void sleep(uint64_t /*timeout_ns*/) {}
  virtual void disarm() {}
  virtual void wake() {}
  // From now on a sleep also ends when this descriptor becomes readable, if the transport can have it so.
  virtual void wake_on(int /*descriptor*/) {}

  // For a transport whose peers do not wake this process: the descriptor that becomes readable when there is something
  // to poll for, as of the last may_sleep() that was true; -1: there is none.
  virtual int wait_descriptor() const { return -1; }
  virtual bool may_sleep() { return true; }

 protected:
  Capabilities capabilities_;  // declared by the constructor
};

// Largest message that goes into the receiver's mailbox whole, by job size (ranks): the memory that all mailboxes
// of a rank take together is bounded.
constexpr uint32_t mailbox_limit(int64_t ranks) {
  if (ranks <= 512) return 8152;
  if (ranks <= 1024) return 2008;
  if (ranks < 16384) return 472;
  if (ranks <= 256 * 1024) return 216;
  return 100;
}

}  // namespace weft::transport
