// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The interface of carriers of frames between hosts: the system's TCP, or a library that is loaded when a job needs it.
// It delivers whole frames, each once and undamaged, in any order; order, flow control and trust are ours, above it
// (transport.hpp).

#include <cerrno>
#include <string>
#include <string_view>

#include "transport/net/frame.hpp"
#include "transport/net/reading.hpp"

namespace weft::transport::net {

class NetEndpoint;

// A frame on its way out: the carrier's while it is being sent.
struct Buffer {
  alignas(16) unsigned char context[48];  // the carrier's own
  Buffer* next;
  Left left;             // of pushed data that have not left yet
  NetEndpoint* peer;     // where the frame goes to
  unsigned char* frame;  // of contents that are written into the peer's memory first
  Written told;          // likewise
  unsigned char* bytes;  // the memory of the frame, at a multiple of 64: room_for_frame

  unsigned char* staging() { return bytes + sizeof(Header) + staged_data_most; }
};
inline constexpr size_t room_for_frame = (frame_most + 64 + 63) / 64 * 64;  // carriers may fill up to a multiple of 16

// A buffer with memory of its own.
struct OwnBuffer : Buffer {
  OwnBuffer() { bytes = memory; }
  alignas(64) unsigned char memory[room_for_frame];
};

// Memory of a carrier's user for frames that come in.
struct Intake {
  unsigned char* memory = nullptr;  // nullptr: the carrier takes its own
  size_t stride = 0;                // from one frame's to the next; each has all of it
  size_t count = 0;
};

// A lane of a peer, as the carrier knows it.
using Address = uint64_t;

// The reports of poll(), before it returns.
class Events {
 public:
  // A frame has come in; its bytes are there during the call. It may send. `early`: others before it have not come in;
  // `refused`: it is not from a rank of the job, or it was changed on its way.
  enum class Came : uint8_t { in_turn, early, refused };
  virtual Came came(uint32_t lane, const unsigned char* frame, size_t bytes) = 0;
  // Whether the header of a frame proves itself: the rest has not come yet, and so many bytes are awaited.
  virtual bool believes(uint32_t /*lane*/, const Header& /*header*/) { return true; }
  // A connection to a rank has brought what that rank has not sent, and is ended; `link` says which, for people.
  virtual void changed(uint32_t /*rank*/, const std::string& /*link*/) {}
  // A frame has left (error 0) or cannot be delivered; the buffer is no longer in use.
  virtual void sent(uint32_t lane, Buffer* buffer, int error) = 0;
  // A read is over: error 0, or why it failed.
  virtual void have_read(Read& /*read*/, int /*error*/) {}
  // A write is over: the contents are there (error 0), or why they could not be written. The buffer is no longer in
  // use.
  virtual void have_written(uint32_t /*lane*/, Buffer* /*buffer*/, int /*error*/) {}
  // Data are being pushed: where they go, until have_pushed() or lost_pushed(). false: that cannot be, nothing of this
  // connection can be believed.
  virtual bool pushing(uint32_t /*lane*/, const Header& /*header*/, PushDestination& /*room*/) { return false; }
  virtual void have_pushed(Read& /*read*/) {}
  // The rest of them will not come.
  virtual void lost_pushed(uint32_t /*rank*/, int /*error*/) {}
  // Likewise a frame to a rank, of which sent() did not tell.
  virtual void lost(uint32_t /*rank*/, int /*error*/) {}

 protected:
  ~Events() = default;
};

class Carrier {
 public:
  virtual ~Carrier() = default;
  virtual const char* name() const = 0;
  // Whether its peers prove who they are before it takes frames of theirs: it ends the connection by which a refused
  // frame came.
  virtual bool knows_peers() const { return false; }

  // Where a lane of ours is reached: bytes for a peer's insert().
  virtual std::string address(uint32_t lane) = 0;
  // false: these bytes are no address. Thread-safe.
  [[nodiscard]] virtual bool insert(std::string_view bytes, Address& address) = 0;

  // Buffers that will be sent lie here, as long as the carrier lives: it may register the memory with its adapters.
  // Thread-safe.
  virtual void register_buffers(void* /*memory*/, size_t /*bytes*/) {}

  // Memory that frames come in to: `call` for each piece, all of which stay. Thread-safe.
  virtual void each_intake(void (* /*call*/)(void* memory, size_t bytes)) {}

  // A carrier whose buffers lie in memory of others too lends them itself, by their use; nullptr: none now. Words of
  // flow control find one whatever messages hold. Thread-safe.
  enum class Use : uint8_t { message, staging, word };
  virtual bool lends() const { return false; }
  virtual Buffer* lend(Use /*use*/) { return nullptr; }
  virtual void take_back(Buffer* /*buffer*/) {}

  // Frames that a sender may have in flight to a lane of a peer, and the bytes staged in one.
  virtual uint64_t window() const { return 64; }
  virtual size_t staged_most() const { return staging_most; }

  // With an Intake: a frame that came in, at `frame`, is no longer in use. One thread at a time, as poll().
  virtual void renew(const unsigned char* /*frame*/) {}

  // Begins to send `bytes` at `start`, in the buffer, from a lane of ours. 0: sent() will report the buffer. `gone`:
  // the buffer is no longer in use. EAGAIN: not now. Any other error: never. Thread-safe.
  static constexpr int gone = -1;
  [[nodiscard]] virtual int send(uint32_t lane, Buffer* buffer, const void* start, size_t bytes, Address to) = 0;

  // Before the carrier goes: returns when the peers' hosts have taken what was sent, or will not.
  virtual void linger() {}

  // Whether all frames of which sent() will not tell have left for good.
  virtual bool all_sent() const { return true; }

  // push() sends data from where they lie, for carriers that keep the order of frames: `bytes` of them go behind the
  // header that lies at the beginning of the buffer. Its results are those of send(), and `copied`: as 0, but the data
  // are no longer in use, and buffer->left is empty.
  static constexpr int copied = -2;
  virtual bool pushes() const { return false; }
  [[nodiscard]] virtual int push(Buffer* /*buffer*/, const void* /*data*/, size_t /*bytes*/, Address /*to*/) {
    return unsupported;
  }

  // Reading a peer's memory, for carriers that can: nothing of what follows is asked of others. The first lane of a
  // peer stands for its memory.
  virtual bool reads() const { return false; }
  // Whether what is read brings a check (check.hpp).
  virtual bool checks_reads() const { return false; }
  // Lets peers read or write `bytes` at `memory`, until deregister(): `ref` is the peers' name for it, with a key of 64
  // bits that is not no_key. false: that cannot be. Thread-safe.
  [[nodiscard]] virtual bool register_memory(void* /*memory*/, size_t /*bytes*/, Access, MemoryRef& /*ref*/) {
    return false;
  }
  virtual void deregister(uint64_t /*key*/) {}
  // Whether this and read() take memory of devices.
  virtual bool reaches_devices() const { return false; }
  // The smallest message for which that pays. For adapters both sides register their memory each time: no machine with
  // some has measured this; it is where that takes less time than two copies, at the rates that others report.
  virtual int64_t reads_from() const { return adapters_read_from; }
  // The most that one read may bring.
  virtual size_t read_most() const { return 0; }
  // Begins to read on a lane of ours, `at` bytes behind the beginning. 0: have_read() will report it. EAGAIN: not now.
  // Any other error: never. One thread at a time for each lane, as poll().
  [[nodiscard]] virtual int read(uint32_t /*lane*/, Address /*from*/, const MemoryRef& /*memory*/, size_t /*at*/,
                                 void* /*to*/, size_t /*bytes*/, Read& /*read*/) {
    return unsupported;
  }

  // Writing into a peer's memory, for carriers that can, in the same way: write() begins to write what lies in the
  // buffer at `start`. 0: have_written() will report the buffer, when the contents are there.
  virtual bool writes() const { return false; }
  [[nodiscard]] virtual int write(uint32_t /*lane*/, Buffer* /*buffer*/, const void* /*start*/, size_t /*bytes*/,
                                  Address /*to*/, const MemoryRef& /*memory*/, size_t /*at*/) {
    return unsupported;
  }

  // Reports what has happened on a lane; how much. One thread at a time for each lane.
  virtual int poll(uint32_t lane, Events& events) = 0;

  // Whether what comes in ends the sleep of a rank without a descriptor.
  virtual bool wakes() const { return false; }
  // A descriptor that becomes readable when poll() has something to report, once may_sleep() has said that it has
  // nothing now; -1: nothing does.
  virtual int wait_descriptor() const { return -1; }
  [[nodiscard]] virtual bool may_sleep() { return true; }

  // The text of an error of send() or sent().
  virtual std::string error_text(int error) const = 0;
};

}  // namespace weft::transport::net
