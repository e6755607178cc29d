// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Operations that are enqueued on a stream of a device: each begins when the stream reaches it, and the stream goes on
// when it is complete. A thread of the stream's own performs them, one after the other, so that streams never wait for
// each other. The program's side of it is include/mpix.h.

#include <mpix.h>
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>

#include "device/api/device.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

using Enqueued = std::function<int()>;  // an operation; returns MPI's error

struct Stream : base::Object {
  device::Gate gate;
  std::atomic<int> holders{1};           // the handle, communicators, requests
  std::atomic<int> failed{MPI_SUCCESS};  // of the operations since it was last told
  std::mutex issuing;                    // held while one is enqueued: driver and queue agree on their order
  std::mutex mutex;                      // of the rest
  std::condition_variable changed;
  std::list<Enqueued> queue;  // those that have not begun
  uint32_t issued = 0;        // numbers of operations, in a circle
  uint32_t reached = 0;
  uint32_t done = 0;
  bool ends = false;
  bool has_thread = false;
  pthread_t thread{};
};

// A request of MPIX_Isend_enqueue and its like.
struct StreamRequest : base::Object {
  Stream* stream = nullptr;  // counted
  Comm* comm = nullptr;
  MPI_Request inner = MPI_REQUEST_NULL;  // once the stream has reached it
};

inline Stream* stream_of(MPIX_Stream handle) {
  return object_of<Stream, base::Kind::stream>(handle);
}
inline StreamRequest* stream_request_of(MPI_Request handle) {
  return object_of<StreamRequest, base::Kind::stream_request>(handle);
}

// A stream with its thread; nullptr: there is none, for the reason in `problem`.
[[nodiscard]] Stream* open_stream(void* of_driver, std::string& problem);
inline Stream* hold(Stream* stream) {
  if (stream != nullptr) stream->holders.fetch_add(1, std::memory_order_relaxed);
  return stream;
}
// The last one waits for what is enqueued.
void drop(Stream* stream);
void wait_for_all(Stream& stream);

// Empty: done; otherwise the reason why not.
[[nodiscard]] std::string enqueue(Stream& stream, Enqueued operation);

// Before the runtime ends: waits for what is enqueued on all streams, and ends their threads.
void end_streams();

}  // namespace weft::mpi
