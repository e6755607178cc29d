// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The abilities of a transport. It declares them once, and they stay true. Core asks for capabilities and never for a
// transport's name. Operations that are not declared say Post::unsupported, or transport::unsupported where they give
// an errno; a declared one may still say so of certain memory, or once it has failed.
//
// Every transport sends messages of up to mailbox_limit() bytes and staged contents, and tells senders of congestion.

#include <cstddef>
#include <cstdint>

namespace weft::transport {

// Kinds of memory that messages may lie in, a bit each.
enum MemoryKinds : uint32_t { host_memory = 1 };

struct Capabilities {
  // The peer is this process: its addresses are ours, and send() hands a message over before it returns.
  bool same_process = false;

  // Every arrival tells its sender: Arrival::from. Otherwise the sender is a rank that this transport reaches.
  bool names_senders = false;

  // Transport::drain() delivers all that was sent before a message that has come, by whatever lane. Otherwise core
  // numbers the messages to a process with several lanes (core/lane/sequence_numbers.hpp).
  bool drains = false;

  bool get_put = false;  // Endpoint::get(), put(): at once, what the system lets us reach of a peer's memory
  bool map = false;      // Transport::allocate() gives memory that peers map(): Endpoint::map()
  bool atomics = false;  // the processor's atomic operations on such memory hold for all that map it
  bool read = false;     // Endpoint::read(): of memory registered with Access::read, or of any where get_put is true
  bool write = false;    // Endpoint::write(): into memory registered with Access::write
  bool claims = false;   // claim slots: Transport::claim(), Endpoint::claim()
  bool wakes = false;    // Transport::sleep() ends when a message comes

  uint32_t memory = host_memory;  // MemoryKinds

  // Limits, in bytes.
  size_t staging_most = 0;  // staged for one message
  size_t push_most = 0;     // of a message that Endpoint::push() takes; 0: it takes none
};

}  // namespace weft::transport
