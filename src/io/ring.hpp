// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Small nonblocking reads by io_uring: the kernel reads, and no thread waits for the storage, so that hundreds of reads
// are under way at the same time.
//
// A thread of the ring's own opens it, gives reads to the kernel and takes their results. The program's threads touch
// no ring: the kernel finishes a read, and closes a ring, in the thread that it had it from, and interrupts that
// thread's calls for it, of which some (epoll_wait) then fail with EINTR.
//
// The ring moves a whole piece or nothing that counts: a read that ends short, is interrupted or fails is made again by
// a worker, whose calls find the end of the file and the error. Reads may be repeated; writes go to workers, as the
// kernel copies them in the thread that has them begin.

#include <cstdint>
#include <string>

#include "io/worker.hpp"

namespace weft::io {

// Bytes of the file, and memory for them.
struct FilePiece {
  int fd;
  void* data;
  int64_t bytes;
  int64_t offset;
};

// Workers copy larger reads faster than one thread would.
inline constexpr int64_t largest_piece = 64 << 10;

class PieceJob : public WorkerJob {
 public:
  // All of the piece was read. On the ring's thread. The job may be gone afterwards.
  virtual void read() = 0;

 protected:
  ~PieceJob() override = default;
  FilePiece piece_{};  // before it is submitted

 private:
  friend class Ring;
  PieceJob* next_piece_ = nullptr;
};

// Begins a read of at most largest_piece bytes of a regular file. Then job.read() is called, or, of a read that did not
// get all bytes, job.run() by a worker. False: there is no ring.
[[nodiscard]] bool submit(PieceJob& job);

// Ends the ring; nothing is under way.
void stop_ring();

// Reads that the ring has made in whole.
[[nodiscard]] uint64_t ring_reads();

// Why small nonblocking reads go to workers: a setting, or what the kernel says. Empty: they go through the ring.
[[nodiscard]] std::string why_no_ring();

}  // namespace weft::io
