// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What protocol messages carry behind the envelope: fixed-width fields, no padding. Between hosts all processors are
// little-endian (transport/net/frame.hpp).

#include <cstdint>

#include "transport/api/transport.hpp"

namespace weft::core::wire {

enum Kind : uint8_t {
  eager = 1,        // E0: the data
  eager_sync,       // E0 of a synchronous send: Sync, then the data; answered by `finished` when matched
  buffered,         // E1: Buffered
  announce,         // R0, R1: Announce
  announce_stream,  // R1 without asking: Announce, the chunks follow (rendezvous is switched off)
  ask_stream,       // receiver to sender: AskStream, please send by R1
  chunk,            // R1: Chunk
  finished,         // receiver to sender: Finished, the send is complete
  recall,           // sender to receiver: Recall, please forget my announcement
  recalled,         // receiver to sender: Recalled
  offer,            // R0, receiver to sender: Offer, help me copy if you are idle
  delivered,        // R0, sender to receiver: Delivered, I copied the last chunk, or could not copy mine
  notice,           // Notice, for a handler above core
  rma,              // windows: rma::Frame and records (core/rma/wire.hpp)
  rma_staged,       // the same in staging memory
  rma_answer,       // answers to records
  pushed,           // E1: the data, which follow
};

struct Sync {
  uint64_t send;   // the sender's request
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

struct Announce {
  uint64_t send;
  uint64_t bytes;
  transport::MemoryRef memory;  // of the data
  int32_t origin;
  uint16_t
      readable;  // 1: the data lies at `memory` in one piece; 0: it has gaps, the sender writes it (R0) or R1 brings it
  uint16_t lane;  // of the sender, for answers
};
static_assert(sizeof(Announce) == 40);

struct AskStream {
  uint64_t send;
  uint64_t limit;               // bytes the receiver has room for
  transport::MemoryRef memory;  // that the chunks may be written into; no_key: they come as messages
  uint32_t lane;                // of the receiver, for the chunks
  uint32_t unused;
};
static_assert(sizeof(AskStream) == 40);

struct Chunk {
  uint64_t send;      // with origin, names the stream
  uint64_t position;  // of the first byte
  uint64_t handle;    // of the staging buffer
  uint32_t bytes;
  int32_t origin;
};
static_assert(sizeof(Chunk) == 32);

struct Finished {
  uint64_t send;
};

struct Recall {
  uint64_t send;
  int32_t origin;
  uint32_t lane;  // of the sender, for the answer
};

struct Recalled {
  uint64_t send;
  uint32_t done;  // 1: forgotten; 0: it was matched already
  uint32_t unused;
};

struct Offer {
  uint64_t send;
  uint64_t pull;     // the receiver's Pull
  uint64_t address;  // of the receiver's buffer
  uint64_t bytes;
  uint16_t slot;  // the receiver's claim slot
  uint16_t lane;  // of the receiver, for the answer
  uint32_t generation;
  uint32_t chunk;  // bytes
  int32_t origin;
};
static_assert(sizeof(Offer) == 48);

struct Delivered {
  uint64_t pull;
  uint32_t done;  // 1: all is copied; 0: the kernel refused, send it by R1
  uint32_t unused;
};

struct Notice {
  uint32_t word;
  uint32_t unused;
};
static_assert(sizeof(Notice) == 8);

inline constexpr uint32_t largest = 64;  // bytes of the largest protocol message without data
static_assert(sizeof(Announce) <= largest && sizeof(AskStream) <= largest);

}  // namespace weft::core::wire
