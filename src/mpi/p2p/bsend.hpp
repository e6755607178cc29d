// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Buffered sends (MPI-5.0, 3.6).

#include <memory>

#include "mpi/object/object.hpp"

namespace weft::mpi {

// Copies checked data into the buffer that serves the communicator and sends it from there. Returns what the MPI call
// must return: MPI_ERR_BUFFER, raised, when the message does not fit.
int buffered_send(Comm& comm, const void* buffer, MPI_Count count, Type& type, int dest, int tag, const char* function);

// Waits until the messages in a communicator's or session's buffer left it, and detaches it: for the end of its owner.
// Nothing happens when none is attached.
void end_buffer(BsendBuffer*& place);

// Waits until all buffers are empty and detaches them, for MPI_Finalize.
void flush_all_buffers();

// MPI_Buffer_attach, MPI_Comm_attach_buffer and MPI_Session_attach_buffer for a program whose MPI_BSEND_OVERHEAD is
// another one, at least least_bsend_overhead.
inline constexpr int64_t least_bsend_overhead = 88;  // Intel MPI's; MPICH's is 96
[[nodiscard]] int attach_buffer(void* buffer, MPI_Count size, int64_t overhead);
[[nodiscard]] int attach_buffer(MPI_Comm comm, void* buffer, MPI_Count size, int64_t overhead);
[[nodiscard]] int attach_buffer(MPI_Session session, void* buffer, MPI_Count size, int64_t overhead);

// ---- The memory that buffered sends leave their data in, managed as the standard's model implementation does
// (MPI-5.0, 3.6.1): a circular queue of entries in which each message takes its data and MPI_BSEND_OVERHEAD. Keeping to
// the model's sizes and places means that a message that fits there fits here. MPI_BUFFER_AUTOMATIC: each entry is
// allocated.
//
// Threads: bsend_lock guards all buffers and the pointers of their owners to them, but not the data of the messages. It
// is not held while anything is sent, waited for or completed. A buffer lives while there are entries in it, so that
// its holder may use the buffer, and a waiting thread waits on a request of its own.

// The head of an entry, in the overhead that the message pays for; the data follows.
struct BsendEntry {
  BsendEntry* older = nullptr;
  BsendEntry* newer = nullptr;
  BsendBuffer* buffer = nullptr;
  uint64_t number = 0;  // messages of a buffer count up
  int64_t end = 0;      // place in the buffer behind this entry
  bool pending = true;

  void* data() { return this + 1; }
};

extern base::Lock bsend_lock;

struct BsendBuffer {
  // `place`: the owner's pointer to this, set to null when the buffer goes.
  // `user_overhead`: the bytes that each message takes beside its data.
  BsendBuffer(BsendBuffer** place_of_owner, void* user_memory, int64_t user_size, int64_t user_overhead);

  bool automatic() const { return memory == MPI_BUFFER_AUTOMATIC; }

  // Appends an entry for a message to the queue; nullptr when it does not fit. The caller holds the lock.
  [[nodiscard]] BsendEntry* append(int64_t data_bytes);

  // Whether all messages have left; otherwise completes `request` when those that are now in the buffer have left. The
  // caller holds the lock.
  [[nodiscard]] bool is_empty_or_notifies(Request& request);

  // Must be called when the message of this entry has left. Takes the lock; the buffer may be gone afterwards.
  static void finished(BsendEntry* entry);

  BsendBuffer** place;
  void* memory;
  void* given = nullptr;             // the program's, if that lies on a device
  std::unique_ptr<char[]> stand_in;  // is `memory` then
  int64_t size;
  int64_t overhead;
  BsendBuffer* next = nullptr;  // of all that are attached
  BsendEntry* oldest = nullptr;
  BsendEntry* newest = nullptr;
  Request* waiting = nullptr;  // of MPI_Buffer_iflush: oldest first, `moved` is the number they wait for

 private:
  [[nodiscard]] BsendEntry* find_room(int64_t bytes);
  void unlink(BsendEntry* entry);
  void reclaim();
  [[nodiscard]] Request* take_ready();

  int64_t begin_ = 0;  // place of the oldest entry
  uint64_t numbered_ = 0;
};

}  // namespace weft::mpi
