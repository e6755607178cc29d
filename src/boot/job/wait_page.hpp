// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The page on which a process says what its waiting threads wait for, for `weft why` and mpiexec. A process makes it
// when a wait of it has lasted for a while, as a memfd of its own: readers find it among the descriptors in /proc.
// Nothing that reads it trusts it: docs/design/statistics.md, "Accounts of waits".
//
// The process writes under a lock of its own and makes `sequence` odd meanwhile; a reader that finds it odd, or another
// number behind than before, has read nothing.

#include <cstddef>
#include <cstdint>

namespace weft::boot {

inline constexpr const char* wait_file = "weft-why";
inline constexpr uint64_t wait_magic = 0x3379687774666577;  // "weftwhy3"

inline constexpr int32_t no_rank = -3;  // not known
inline constexpr int32_t any_rank = -1;
inline constexpr int32_t any_tag = -2;

enum class WaitKind : uint32_t {
  none = 0,
  all = 1,         // for all of the messages
  any = 2,         // for one of the messages
  probe = 3,       // for the arrival of a message
  collective = 4,  // for other ranks of the communicator, in an operation that all of them call
  lock = 5,        // for a window's lock at `target`
  exposure = 6,    // for MPI_Win_post of `target`
  access = 7,      // for MPI_Win_complete of `target`
  flush = 8,       // for one-sided operations to end at `target`
  memory = 9,      // for memory of its own to change
  other = 10,
};
inline constexpr uint32_t wait_kinds = 11;

enum class MessageKind : uint32_t {
  receive = 0,
  send = 1,
  synchronous_send = 2,
  operation = 3,  // made of several messages: of `context` no more is known
  arrived = 4,    // came, and no receive has asked for it
};
inline constexpr uint32_t message_kinds = 5;

struct PageMessage {
  uint32_t kind;     // a MessageKind
  uint32_t context;  // an odd one is of a collective operation, or of the library
  int32_t peer;      // in the job
  int32_t rank;      // of the peer in its communicator
  int32_t tag;
  uint32_t reserved;
  int64_t bytes;
};
static_assert(sizeof(PageMessage) == 32 && offsetof(PageMessage, bytes) == 24);

// The members of a communicator: first + i * stride, or a list; not all of a long one.
struct PageComm {
  static constexpr uint32_t most = 30;
  uint32_t context;
  int32_t size;  // 0 if there is no communicator
  int32_t rank;  // our own
  int32_t first;
  int32_t stride;   // 0: `members` lists them
  uint32_t listed;  // of `members`
  char name[48];    // ends with a zero; empty: it has none
  int32_t members[most];
};
static_assert(sizeof(PageComm) == 192 && offsetof(PageComm, members) == 72);

struct PageWait {
  static constexpr uint32_t most = 6;
  uint32_t kind;    // a WaitKind; none: the place is free
  uint32_t thread;  // as the system numbers it
  uint64_t number;  // of this wait in its process
  uint64_t since_ns;
  uint64_t site;   // in the program: where the call returns to; 0: not known
  char call[40];   // "MPI_Recv"; ends with a zero
  int32_t target;  // in the job; no_rank: none
  int32_t root;    // of a collective operation; below 0: it has none
  int64_t bytes;   // of it; below 0: not known
  uint32_t order;  // of the operation among those of its communicator, from 1 on; 0: it is not counted
  uint32_t messages;
  uint32_t listed;  // of the messages
  uint32_t reserved;
  PageMessage message[most];
  PageComm comm;
};
static_assert(offsetof(PageWait, call) == 32 && offsetof(PageWait, message) == 104);
static_assert(sizeof(PageWait) == 104 + 6 * 32 + 192);

// A collective operation that a waiting thread has been through.
struct PagePast {
  uint32_t context;
  uint32_t order;
  int32_t root;
  uint32_t reserved;
  int64_t bytes;
  char call[40];
};
static_assert(sizeof(PagePast) == 64);

struct PageLock {
  uint32_t context;  // of the window's communicator
  int32_t target;    // in the job
  uint32_t exclusive;
  uint32_t reserved;
};
static_assert(sizeof(PageLock) == 16);

struct WaitPage {
  static constexpr uint32_t most_waits = 8;   // where threads may call at the same time
  static constexpr uint32_t fewer_waits = 3;  // otherwise: all of it is one page of memory
  static constexpr uint32_t most_listed = 16;

  uint64_t magic;
  uint64_t sequence;
  uint32_t bytes;  // of all this, with as many waits as there are
  uint32_t pid;
  int32_t rank;
  int32_t size;         // of the job
  uint32_t concurrent;  // 1: threads may call at the same time
  uint32_t untold;      // threads that wait and found no place
  uint32_t arrived;     // messages that no receive has asked for
  uint32_t open;        // operations under way
  uint32_t arrived_listed;
  uint32_t open_listed;
  uint32_t past_listed;
  uint32_t locks_listed;
  char job[64];          // names it; ends with a zero
  uint64_t turned_away;  // messages and connections from other hosts, so far: they did not prove to be of this job
  PageMessage arrived_messages[most_listed];
  PageMessage open_messages[most_listed];
  PagePast past[most_listed];
  PageLock locks[most_listed];
  PageWait waits[most_waits];

  static constexpr size_t bytes_with(uint32_t waits) {
    return sizeof(WaitPage) - (most_waits - waits) * sizeof(PageWait);
  }
};
static_assert(offsetof(WaitPage, job) == 64 && offsetof(WaitPage, arrived_messages) == 136);
static_assert(offsetof(WaitPage, waits) == WaitPage::bytes_with(0) && sizeof(PageWait) % 8 == 0);
static_assert(WaitPage::bytes_with(WaitPage::fewer_waits) <= 4096 && sizeof(WaitPage) <= 8192);

}  // namespace weft::boot
