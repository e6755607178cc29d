// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The contents of the messages of the four paths, behind the envelope: fixed-width fields, no padding. `send` is the
// number of the sender's request (core/peer/request_number.hpp); answers name their sender in the envelope's source.
// Between hosts all processors are little-endian (transport/net/frame.hpp). Each kind has its handler in the file of
// its path.

#include <cstdint>

#include "device/api/device.hpp"
#include "transport/api/transport.hpp"

namespace weft::core::wire {

enum ProtocolMessage : uint8_t {
  // 1: eager, E0 (core/message/path.hpp): the data
  eager_sync = 2,  // E0 of a synchronous send: Sync, then the data; answered by a FIN when matched
  buffered,        // E1: Buffered, which names the staging buffer
  pushed,          // E1: the data, which follow
  rts,             // R0, R1: Rts, request to send
  rts_stream,      // R1 without asking: Rts, the chunks follow (rendezvous is switched off)
  cts,             // R1, receiver to sender: Cts, clear to send
  chunk,           // R1: Chunk, a part of the data
  fin,             // receiver to sender: Fin, the send is complete
  help,            // R0, receiver to sender: Help, copy a part of it if you are idle
  helped,          // R0, sender to receiver: Helped, the last chunk is copied, or the kernel refused
  recall,          // sender to receiver: Recall, forget my RTS
  recalled,        // receiver to sender: Recalled
  unsent,          // sender to receiver: a message of this number does not come (core/lane/sequence_numbers.hpp)
};

struct Sync {
  uint64_t send;
  int32_t origin;  // the sender's rank in the job
  uint32_t lane;   // of the sender, for the answer
};
static_assert(sizeof(Sync) == 16);

struct Buffered {
  uint64_t handle;  // of the staging buffer
  uint64_t bytes;
  int32_t origin;
  uint32_t unused;
};
static_assert(sizeof(Buffered) == 24);

struct Rts {
  uint64_t send;
  uint64_t bytes;
  transport::MemoryRef memory;  // of the data
  int32_t origin;
  // The data lie at `memory` in one piece, or with gaps: then the sender writes them (R0), or R1. May stream: they
  // can be read, and as the sender waits, they may come by a stream as well: the receiver chooses.
  // On a device: the message is an RtsOnDevice, and the receiver may have the device copy, or R1.
  static constexpr uint16_t with_gaps = 0, in_one_piece = 1, may_stream = 2, on_device = 3;
  uint16_t readable;
  uint16_t lane;  // of the sender, for answers
};
static_assert(sizeof(Rts) == 40);

// The RTS of data on a device. An allocation of no bytes cannot be mapped, or is better not mapped.
struct RtsOnDevice {
  Rts rts;
  device::Shared allocation;
};
static_assert(sizeof(RtsOnDevice) == 128);

struct Cts {
  uint64_t send;
  uint64_t limit;               // the most bytes that the receiver takes
  transport::MemoryRef memory;  // that the chunks may be written into; no_key: they come as messages
  uint32_t lane;                // of the receiver, for the chunks
  uint32_t unused;
};
static_assert(sizeof(Cts) == 40);

struct Chunk {
  uint64_t send;      // with origin, names the stream
  uint64_t position;  // of the first byte
  uint64_t handle;    // of the staging buffer
  uint32_t bytes;
  int32_t origin;
};
static_assert(sizeof(Chunk) == 32);

struct Fin {
  uint64_t send;
};
static_assert(sizeof(Fin) == 8);

struct Help {
  uint64_t send;
  uint64_t pull;     // number of the receiver's Pull
  uint64_t address;  // of the receiver's buffer
  uint64_t bytes;
  uint8_t slot;        // the receiver's claim slot
  uint8_t may_stream;  // whether the sender may take all and stream it
  uint16_t lane;       // of the receiver, for the answer
  uint32_t generation;
  uint32_t chunk;  // bytes
  int32_t origin;
};
static_assert(sizeof(Help) == 48);

struct Helped {
  uint64_t pull;
  uint32_t done;  // 1: all is copied; 0: the kernel refused, send it by R1
  uint32_t unused;
};
static_assert(sizeof(Helped) == 16);

struct Recall {
  uint64_t send;
  int32_t origin;
  uint32_t lane;  // of the sender, for the answer
};
static_assert(sizeof(Recall) == 16);

struct Recalled {
  uint64_t send;
  uint32_t done;  // 1: forgotten; 0: it was matched already
  uint32_t unused;
};
static_assert(sizeof(Recalled) == 16);

inline constexpr uint32_t largest = 64;  // bytes of the largest protocol message without data
static_assert(sizeof(Rts) <= largest && sizeof(Cts) <= largest && sizeof(Help) <= largest);

}  // namespace weft::core::wire
