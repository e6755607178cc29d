// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Threads that access files while the program computes or waits. They are started when there is work for them and end
// with the runtime. Below MPI_THREAD_MULTIPLE they never touch messages: the program's thread does the rest of an
// access in its next round of progress.

#include <pthread.h>

#include <cstdint>

namespace weft::core {
struct Request;
}

namespace weft::io {

class WorkerJob {
 public:
  WorkerJob() = default;
  WorkerJob(const WorkerJob&) = delete;
  WorkerJob& operator=(const WorkerJob&) = delete;

  // On a worker. The job may be gone afterwards.
  virtual void run() = 0;
  // The rest, where messages are allowed; after come_back().
  virtual void follow() {}

 protected:
  virtual ~WorkerJob() = default;

 private:
  friend class Workers;
  WorkerJob* next_ = nullptr;
};

// Has a worker run the job; where no thread can be had, the calling one does.
void post(WorkerJob& job);

// By run(), as its last act: has the job's follow() called.
void come_back(WorkerJob& job);

// By run(), as its last act: completes a request that has no follow-up.
void complete_from_worker(core::Request& request);

// A thread that takes no signals: they are for the program's. False: there is none to be had.
[[nodiscard]] bool start_thread(pthread_t& thread, void* (*body)(void*), void* argument);

// How many threads there may be.
[[nodiscard]] int64_t most_workers();

// Ends the threads; no job is under way. Before the runtime ends.
void stop_workers();

}  // namespace weft::io
