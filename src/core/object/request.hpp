// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Requests: one operation under way. A cache per thread hands them out; the small standard send that left at once has
// none of its own and shares `done_send`.

#include <atomic>
#include <cstdint>

#include "base/object.hpp"
#include "datatype/type.hpp"
#include "transport/api/transport.hpp"

namespace weft::core {

using datatype::Type;
using transport::Envelope;
using transport::MemoryRef;

struct Comm;
struct Peer;
struct Request;
struct Unexpected;

// The standard's error classes that core itself can find; src/mpi asserts that the values are the standard's.
enum Error : int32_t {
  no_error = 0,
  wrong_type = 3,
  wrong_root = 8,
  wrong_op = 10,
  truncated = 15,
  other_error = 16,
  internal_error = 17,
  no_memory = 39,
  rma_attach = 46,
  rma_range = 48,
  rma_sync = 50,
};

inline constexpr int32_t any_source = -1;
inline constexpr int32_t any_tag = -2;
inline constexpr int32_t proc_null = -3;

enum class Role : uint8_t {
  send,
  receive,
  composite,  // made of other requests or of callbacks (partitioned, generalized): `on_poll` advances it
};

enum class Mode : uint8_t { standard, synchronous, ready, buffered };

// Facts of a request that are set apart from its life.
struct RequestFlags {
  bool active : 1;      // started and not yet completed by a Wait or Test; false only for inactive persistent ones
  bool persistent : 1;  // stays after completion, until freed; also of generalized ones, to tell both by one test
  bool cancelled : 1;
  bool shared : 1;       // this is done_send, which is never freed
  bool generalized : 1;  // completed by the program, whose functions tell its status: mpi/p2p/grequest.cpp
  bool awaited : 1;      // of a blocking operation: its thread does nothing else
  bool on_device : 1;    // the buffer is memory of a device: it has a layout, even without gaps
};

struct alignas(64) Request : base::Object {
  // ---- read by Test and Wait
  bool done = false;  // through is_done() and complete() alone
  Role role = Role::send;
  Mode mode = Mode::standard;
  RequestFlags flags{};
  int32_t error = 0;
  int32_t source = 0;  // what the status reports
  int32_t tag = 0;
  int64_t received = 0;  // bytes
  Comm* comm = nullptr;
  Request* next = nullptr;  // in a list of the lane, or in the pool
  // ---- what is matched, and the user's buffer
  Envelope match{};
  void* buffer = nullptr;
  int64_t bytes = 0;        // of data: size of a send, limit of a receive
  Type* layout = nullptr;   // nullptr: contiguous, in the host's memory
  int64_t count = 0;        // elements, when there is a layout
  uint64_t post_order = 0;  // receives: see Matcher::order()
  // ---- what only some requests use: null otherwise, see free_request()
  bool (*on_done)(Request&) = nullptr;  // runs once on completion, before it is seen; false: the request is gone
  void (*on_poll)(Request&) = nullptr;  // composite requests: looks whether it is complete
  void (*on_free)(Request&) = nullptr;  // the owner's state goes with the handle
  int (*on_start)(Request&) = nullptr;  // persistent requests: what MPI_Start does; returns an error class
  void* owner = nullptr;                // for the functions above: the owner of the request
  Type* type = nullptr;                 // the user's derived type, kept while the request lives
  // ---- protocols beyond E0
  Peer* peer = nullptr;
  int64_t moved = 0;        // bytes already on their way (R1)
  int64_t limit = 0;        // bytes the receiver has asked for (R1); of a truncated receive, those that were sent
  int32_t partner = 0;      // destination or source of a persistent request
  uint16_t lane = 0;        // of this process, where the operation ends
  uint16_t their_lane = 0;  // of the peer, where chunks go (R1)
  MemoryRef registered{0, MemoryRef::no_key};  // memory of an announced send, for deregister()
  bool slept_on = false;                       // a thread sleeps until it is done
  bool joined = false;                         // of an announced send: a thread has begun to wait for it; join()
  uint32_t placing = 0;  // chunks that are written to `target`, and of which the receiver is not told (R1)
  MemoryRef target{0, MemoryRef::no_key};      // where the receiver lets us write (R1)
  uint32_t serial = 0;                         // generation and NumberStage of a send: request_number.hpp
  bool asks_way = false;                       // of an announced send: the receiver chooses between a stream and a copy
  transport::Way way = transport::Way::other;  // of a receive whose time is noted: how its data come
  uint64_t began_ns = 0;                       // of such a receive: when its message was matched
};
static_assert(sizeof(Request) <= 256);

inline constexpr uint16_t any_lane = 0xffff;  // of a receive whose messages may come by any lane

// A completion with an on_done: at once, or when the calling thread holds no lane any more.
void complete_later(Request& request);
// The on_done of a complete request, then its mark.
void end(Request& request);

inline bool is_done(const Request& request) {
  return std::atomic_ref(const_cast<bool&>(request.done)).load(std::memory_order_acquire);
}

}  // namespace weft::core
