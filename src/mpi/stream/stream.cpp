// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Streams and their threads.
#include "mpi/stream/stream.hpp"

#include <algorithm>
#include <vector>

#include "device/api/pins.hpp"
#include "io/worker.hpp"
#include "mpi/comm/comm.hpp"

namespace weft::mpi {
namespace {

constexpr size_t word_bytes = 4096;  // of the word that the device waits for: a page, as it is pinned

// Streams whose thread runs, and those that their own thread was the last to drop.
struct Open {
  std::mutex mutex;
  std::vector<Stream*> running, dropped;
  std::vector<uint32_t*> words;  // of streams that have ended, for the next: a device may not have read the last number
};
Open& open_streams() {
  static auto* const all = new Open;  // kept until the process ends, as a thread may be in it
  return *all;
}

// By a thread of the driver's, which must not wait long.
void on_reached(void* argument) {
  auto& stream = *static_cast<Stream*>(argument);
  std::lock_guard guard(stream.mutex);
  if (stream.reached == stream.issued) return;  // of an operation that could not be enqueued after all
  ++stream.reached;
  stream.changed.notify_all();
}

void* perform(void* argument) {
  auto& stream = *static_cast<Stream*>(argument);
  std::unique_lock guard(stream.mutex);
  for (;;) {
    stream.changed.wait(guard, [&] { return stream.reached != stream.done || stream.ends; });
    if (stream.reached == stream.done) return nullptr;
    Enqueued operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    guard.unlock();
    int error = operation();
    operation = nullptr;  // and what it holds
    if (error != MPI_SUCCESS) {
      int none = MPI_SUCCESS;
      stream.failed.compare_exchange_strong(none, error, std::memory_order_relaxed);
    }
    guard.lock();
    ++stream.done;
    std::atomic_ref(*stream.gate.word).store(stream.done, std::memory_order_release);
    stream.changed.notify_all();
  }
}

void end_thread(Stream& stream) {
  {
    std::lock_guard guard(stream.mutex);
    stream.ends = true;
    stream.changed.notify_all();
  }
  pthread_join(stream.thread, nullptr);
  stream.has_thread = false;
  std::lock_guard guard(open_streams().mutex);
  open_streams().words.push_back(stream.gate.word);
}

// Gives a word that a device can wait on; nullptr: there is no memory.
uint32_t* take_word() {
  Open& all = open_streams();
  {
    std::lock_guard guard(all.mutex);
    if (!all.words.empty()) {
      uint32_t* const word = all.words.back();
      all.words.pop_back();
      return word;
    }
  }
  auto* const word = static_cast<uint32_t*>(device::take_pinned(word_bytes));
  if (word != nullptr) *word = 0;
  return word;
}

// Destroys the streams that their own threads have dropped.
void sweep() {
  std::vector<Stream*> dropped;
  {
    std::lock_guard guard(open_streams().mutex);
    dropped.swap(open_streams().dropped);
  }
  for (Stream* stream : dropped) {
    if (stream->has_thread) end_thread(*stream);  // unless the end of all streams was first
    base::destroy_object(stream);
  }
}

}  // namespace

Stream* open_stream(void* of_driver, std::string& problem) {
  sweep();
  auto* const stream = base::make_object<Stream>();
  uint32_t* const word = stream == nullptr ? nullptr : take_word();
  if (word == nullptr) {
    if (stream != nullptr) base::destroy_object(stream);
    problem = "there is no memory for a stream";
    return nullptr;
  }
  stream->gate = {of_driver, word, false};
  stream->issued = stream->reached = stream->done = *word;
  problem = device::active->make_gate(stream->gate);
  if (problem.empty() && !io::start_thread(stream->thread, perform, stream))
    problem = "the system gives no thread for its operations: see the limits of processes (ulimit -u)";
  if (!problem.empty()) {
    {
      std::lock_guard guard(open_streams().mutex);
      open_streams().words.push_back(word);
    }
    base::destroy_object(stream);
    return nullptr;
  }
  stream->has_thread = true;
  stream->kind = base::Kind::stream;
  std::lock_guard guard(open_streams().mutex);
  open_streams().running.push_back(stream);
  return stream;
}

void drop(Stream* stream) {
  if (stream == nullptr || stream->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Open& all = open_streams();
  {
    std::lock_guard guard(all.mutex);
    all.running.erase(std::remove(all.running.begin(), all.running.end(), stream), all.running.end());
    if (stream->has_thread && pthread_equal(pthread_self(), stream->thread) != 0) return all.dropped.push_back(stream);
  }
  if (stream->has_thread) {
    wait_for_all(*stream);
    end_thread(*stream);
  }
  base::destroy_object(stream);
}

void wait_for_all(Stream& stream) {
  if (!stream.has_thread || pthread_equal(pthread_self(), stream.thread) != 0) return;
  std::unique_lock guard(stream.mutex);
  const uint32_t last = stream.issued;
  stream.changed.wait(guard, [&] { return static_cast<int32_t>(stream.done - last) >= 0; });
}

std::string enqueue(Stream& stream, Enqueued operation) {
  std::lock_guard order(stream.issuing);
  if (!stream.has_thread) return "the stream has ended with MPI";
  uint32_t number;
  {
    std::lock_guard guard(stream.mutex);
    stream.queue.push_back(std::move(operation));
    number = ++stream.issued;
  }
  std::string problem = device::active->halt(stream.gate, number, on_reached, &stream);
  if (problem.empty()) return problem;
  std::lock_guard guard(stream.mutex);
  if (stream.reached == stream.issued) return problem;  // it was reached all the same, and is performed
  stream.queue.pop_back();
  --stream.issued;
  return problem;
}

void end_streams() {
  std::vector<Stream*> running;
  {
    std::lock_guard guard(open_streams().mutex);
    running.swap(open_streams().running);
  }
  for (Stream* stream : running) {
    wait_for_all(*stream);
    end_thread(*stream);
  }
  sweep();
}

// ---- Communicators

void share_stream(const Comm& from, Comm& to) {
  to.stream = hold(from.stream);
}

void wait_for_stream(const Comm& comm) {
  if (comm.stream != nullptr) wait_for_all(*comm.stream);
}

void drop_stream(Comm& comm) {
  drop(std::exchange(comm.stream, nullptr));
}

}  // namespace weft::mpi
